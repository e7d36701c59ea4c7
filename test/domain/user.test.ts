import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';

describe('publicUserFields', () => {
  it('can be email, or names that a custom field of users can have', () => {
    const create = (name: unknown) => () =>
      createRostrum(createMemoryStore(), { publicUserFields: [name as string] });
    for (const name of ['email', 'city', 'title', 'größe.x', 'a'.repeat(64), '😀'.repeat(64)]) {
      expect(create(name), name).not.to.throw();
    }
    const impossible = ['', '__proto__', 'a'.repeat(65), 'a\0', '\ud83d', 'id', 'updatedAt', 7];
    for (const name of impossible) {
      expect(create(name), String(name)).to.throw(
        TypeError,
        /^"[^"]*" cannot be made public: .*\.$/,
      );
    }
  });
});
