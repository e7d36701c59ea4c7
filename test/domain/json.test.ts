import { expect } from 'chai';
import fc from 'fast-check';
import { copyJson, setMember } from '../../src/domain/records/json.ts';

describe('a copy of JSON', () => {
  it('is equal, and keeps the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(copyJson(value)).to.deep.equal(value);
        expect(JSON.stringify(copyJson(value))).to.equal(JSON.stringify(value));
      }),
    );
  });

  it('shares no object and no array', () => {
    const parts = (value: unknown): object[] =>
      typeof value === 'object' && value !== null
        ? [value, ...Object.values(value).flatMap(parts)]
        : [];
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const given = new Set(parts(value));
        expect(parts(copyJson(value)).filter((part) => given.has(part))).to.deep.equal([]);
      }),
    );
  });

  it('treats __proto__ like any other key', () => {
    const text = '{"a":{"__proto__":{"b":1}}}';
    const copy: object = copyJson(JSON.parse(text));
    expect(JSON.stringify(copy)).to.equal(text);
    expect(Object.getPrototypeOf(Reflect.get(copy, 'a'))).to.equal(Object.prototype);
  });
});

describe('setting a member', () => {
  it('never changes a prototype', () => {
    const object: Record<string, unknown> = {};
    setMember(object, '__proto__', { polluted: true });
    expect('polluted' in object).to.equal(false);
    expect(Object.keys(object)).to.deep.equal(['__proto__']);
  });
});
