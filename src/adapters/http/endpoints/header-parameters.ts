import { entityTagsPattern, parseEntityTags } from '../headers/etag.ts';
import type { Parameter } from '../parameter.ts';
import { keyPattern, parseIdempotencyKey } from '../records/idempotency.ts';

function tags(name: string, description: string): Parameter {
  return {
    name,
    description,
    schema: { type: 'string', pattern: `^\\*$|${entityTagsPattern}` },
    example: '"1"',
    check: (value) =>
      parseEntityTags(value) ? undefined : 'Must be * or entity tags: "1", or "1", "2".',
  };
}

export const ifMatch = tags('If-Match', 'Only at one of these versions; * for any.');

export const ifNoneMatch = tags(
  'If-None-Match',
  'Only at none of these versions; a read of one ends in 304.',
);

export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  description: 'Makes the request safe to repeat: for 24 hours, one key makes one record.',
  schema: { type: 'string', pattern: keyPattern },
  example: '3f2a9c5e-order-17',
  check: (value) =>
    parseIdempotencyKey(value) === undefined
      ? 'Must be 1 to 255 visible ASCII characters, quoted or bare.'
      : undefined,
};

export const prefer: Parameter = {
  name: 'Prefer',
  description: 'return=minimal: a response without a body. return=representation: the record.',
  schema: { type: 'string' },
  example: 'return=minimal',
};
