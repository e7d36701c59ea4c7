import fc from 'fast-check';
import type { Json } from '../../src/domain/records/json.ts';

/** I-JSON strings, biased towards troublesome characters: quotes, control characters, higher planes. */
const cleanText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u001f', '\u2028', '\uffff', '😀', '～') }),
);

/** Valid keys of a record, biased towards keys that are special in stores or languages. */
const declaredKey = fc.oneof(
  fc.constantFrom('_id', '$set', 'a.b', '.', '$', 'constructor', 'toString', 'length', 'version'),
  fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
    .filter((k) => k !== '__proto__'),
);

/** Valid numbers in a record. */
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n))
    .map((n) => (n === 0 ? 0 : n)),
);

/** Valid values of a custom field. */
export const customValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false),
    number,
    cleanText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(declaredKey, tie('value'), { maxKeys: 4 }),
  ),
})).value;
