// The samples of the reference, whatever is in an example.

import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import type { Description, Operation } from '../../src/browser/description.ts';
import { samplesOf } from '../../src/browser/samples.ts';

const example = { title: `It's "quoted", \\ and —`, tags: ['$HOME', '`id`'], pinned: null };
const operation: Operation = {
  description: '',
  parameters: [],
  requestBody: {
    content: {
      'application/json': { example, schema: { $ref: '#/components/schemas/PostInput' } },
    },
  },
  responses: {},
};

const description = { components: { schemas: {} } } as unknown as Description;

/** The samples, by the names of their languages. */
function samples(): Readonly<Record<string, string>> {
  const text = samplesOf(
    'post',
    'http://127.0.0.1:3000/api/v1/posts',
    operation,
    description,
    false,
  );
  const folds = text.matchAll(/<summary>(\w+)<\/summary>\n\n```\n([\s\S]*?)\n```/g);
  return Object.fromEntries([...folds].map(([, name = '', sample = '']) => [name, sample]));
}

describe('the samples of the reference', () => {
  it('are words of a shell that quotes of an example do not end', () => {
    const script = `curl() { printf '%s\\0' "$@"; }\n${samples().curl}`;
    const words = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0');
    expect(JSON.parse(words[words.indexOf('-d') + 1] ?? '')).to.deep.equal(example);
  });

  it('are strings of Python', () => {
    const [, literal = ''] = /data=(".*")\.encode\(\)/.exec(samples().Python ?? '') ?? [];
    expect(JSON.parse(JSON.parse(literal))).to.deep.equal(example);
  });
});
