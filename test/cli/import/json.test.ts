import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Reading } from '../../../src/cli/import/given.ts';
import { readJson } from '../../../src/cli/import/json.ts';
import { temporaryDirectory } from '../../support/repository-copy.ts';
import { refusalOf } from '../refusal.ts';

const reading: Reading = { signal: new AbortController().signal, onBytes() {} };

describe('arrays in JSON files', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let path: string;
  before(async () => {
    folder = await temporaryDirectory();
    path = join(folder.path, 'db.json');
  });
  after(() => folder[Symbol.asyncDispose]());

  async function read(text: string | Buffer, name = '') {
    writeFileSync(path, text);
    const others = new Set<string>();
    const found = [];
    for await (const one of readJson(path, name, reading, others)) {
      expect(one.index).to.equal(found.length);
      found.push(one.text === undefined ? undefined : JSON.parse(one.text));
    }
    return { found, others: [...others] };
  }

  it('are read element by element, however they are written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
        fc.constantFrom('', ' ', '\t', '\r\n'),
        async (values, others, space) => {
          const elements = JSON.parse(JSON.stringify(values)); // JSON writes -0 as 0.
          expect((await read(JSON.stringify(elements, null, space))).found).to.deep.equal(elements);
          const object = JSON.stringify({ ...others, posts: elements, last: 1 }, null, space);
          expect((await read(`\ufeff${object}`, 'posts')).found).to.deep.equal(elements);
        },
      ),
    );
  });

  it('are read alike wherever the pieces of the file end', async () => {
    const elements = [{ 'a"\\': ['x]', -1.5e3, null], é: '😀\\"' }, 'text', 17, true, []];
    const text = JSON.stringify({ users: [[{}]], posts: elements });
    const piece = 1024 * 1024;
    for (let before = 1; before <= Buffer.byteLength(text); before++) {
      const { found } = await read(' '.repeat(piece - before) + text, 'posts');
      expect(found).to.deep.equal(elements);
    }
  });

  it('name the members that are passed over', async () => {
    const text = '{"posts":[1],"comments":[{"posts":[2]}],"users":[3],"a":{"b":"]"},"c":null}';
    expect(await read(text, 'posts')).to.deep.equal({ found: [1], others: ['comments', 'a', 'c'] });
    expect((await read('{}', 'posts')).found).to.deep.equal([]);
  });

  it('have elements that are no text where bytes are not UTF-8', async () => {
    const { found } = await read(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x2c, 0x31, 0x5d]));
    expect(found).to.deep.equal([undefined, 1]);
  });

  const broken: [text: string, name: string, message: RegExp][] = [
    ['', '', /there is no \[ in line 1\.$/],
    ['{"posts":\n7}', 'posts', /there is no \[ in line 2\.$/],
    ['[1,\n2,\n3', '', /there is neither , nor \] in line 3\.$/],
    ['[1,\n\n{"a": 1', '', /cut off in line 3\.$/],
    ['["a', '', /cut off in line 1\.$/],
    ['[1 2]', '', /there is neither , nor \]/],
    ['[1,]', '', /there is no value/],
    ['[1]\n[2]', '', /more follows .* in line 2\.$/],
    ['{"id":1}\n{"id":2}', 'posts', /more follows \(JSON Lines .*\.jsonl\) in line 2\.$/],
    ['{"\\x":[]}', 'posts', /there is no key/],
    ['{posts:[]}', 'posts', /there is no key/],
    ['{"posts"[]}', 'posts', /there is no :/],
    ['{"posts":[],\n"users":[],\n"posts":[1]}', 'posts', /there is a second "posts" in line 3\.$/],
    ['{"posts":[]', 'posts', /there is neither , nor \}/],
    [`[${' '.repeat(10)}"${'x'.repeat(16 * 1024 * 1024)}"]`, '', /longer than any can be/],
  ];
  for (const [text, name, message] of broken) {
    it(`are refused with the line: ${text.slice(0, 30)}`, async () => {
      expect(await refusalOf(read(text, name))).to.match(message);
    });
  }
});
