import type { Json, JsonObject } from '../../../src/domain/json.ts';
import type { Entity } from '../../../src/domain/record.ts';
import { type Fault, inBoth, storing } from './plant.ts';

export const ownFields: Fault[] = [
  {
    fault: 'takes a dot in a key for a path',
    breaks: 'keys of every name',
    plan: storingKeys((key) => key.replaceAll('.', '_')),
  },
  {
    fault: 'drops keys that begin with a dollar sign',
    breaks: 'keys of every name',
    plan: storingKeys((key) => (key.startsWith('$') ? undefined : key)),
  },
  {
    fault: 'takes a column of its own for an own field of that name',
    breaks: 'keys of every name',
    plan: storingKeys((key) => (key === 'version' ? undefined : key)),
  },
  {
    fault: 'brings keys to normal form',
    breaks: 'keys of every name',
    plan: storingKeys((key) => key.normalize('NFC')),
  },
  {
    fault: 'keeps integers in 32 bits',
    breaks: 'integers up to',
    plan: storingValues((v) => (typeof v === 'number' && Number.isInteger(v) ? v | 0 : v)),
  },
  {
    fault: 'prints numbers with 15 digits',
    breaks: 'numbers with a fraction',
    plan: storingValues((v) => (typeof v === 'number' ? Number(v.toPrecision(15)) : v)),
  },
  {
    fault: 'has no subnormal numbers',
    breaks: 'numbers with a fraction',
    plan: storingValues((v) => (typeof v === 'number' && Math.abs(v) < 1e-307 ? 0 : v)),
  },
  {
    fault: 'brings texts to normal form',
    breaks: 'texts with every character',
    plan: storingValues((v) => (typeof v === 'string' ? v.normalize('NFC') : v)),
  },
  {
    fault: 'takes a byte order mark away',
    breaks: 'texts with every character',
    plan: storingValues((v) => (typeof v === 'string' ? v.replace(/^\ufeff/, '') : v)),
  },
  {
    fault: 'drops members that are null',
    breaks: 'empty and absent values',
    plan: storingKeys((key, value) => (value === null && key !== 'email' ? undefined : key)),
  },
  {
    fault: 'takes an empty list for no list',
    breaks: 'empty and absent values',
    plan: storingValues((v) => (Array.isArray(v) && v.length === 0 ? null : v)),
  },
  {
    fault: 'reads an object of extended JSON as the type that it names',
    breaks: 'objects that look like a driver',
    plan: storingValues((v, depth) =>
      isObject(v) && depth > 1 && '$oid' in v ? String(v.$oid) : v,
    ),
  },
  {
    fault: 'keeps ten levels',
    breaks: 'nesting as deep',
    plan: storingValues((v, depth) => (depth > 10 ? null : v)),
  },
  {
    fault: 'cuts long texts',
    breaks: 'long texts',
    plan: storingValues((v) => (typeof v === 'string' ? v.slice(0, 65_535) : v)),
  },
  {
    fault: 'keeps 999 fields',
    breaks: 'long texts',
    plan: storing((record) => Object.fromEntries(Object.entries(record).slice(0, 999)) as Entity),
  },
  {
    fault: 'takes an own field of a user for a reference',
    breaks: 'users: own fields may be named as the other kind',
    plan: {
      users: (inner, store) => ({
        create: async (record, claim) => {
          const { authorId } = record;
          const known = typeof authorId !== 'string' || (await store.users.get(authorId));
          return inner.create(known ? record : { ...record, authorId: null }, claim);
        },
      }),
    },
  },
  {
    fault: 'merges a change into what was there',
    breaks: 'posts: own fields that a change leaves out are gone',
    plan: inBoth((inner) => ({
      update: (id, decide) =>
        inner.update(id, (current) => {
          const next = decide(current);
          return next === current.record ? next : { ...current.record, ...next };
        }),
    })),
  },
];

function storingKeys(change: (key: string, value: Json) => string | undefined) {
  return storingValues((value) => {
    if (!isObject(value)) return value;
    const members = Object.entries(value).flatMap(([key, member]) => {
      const stored = change(key, member);
      return stored === undefined ? [] : [[stored, member] as const];
    });
    return Object.fromEntries(members);
  });
}

/** Changes every value, from the outside in. */
function storingValues(change: (value: Json, depth: number) => Json) {
  const walk = (value: Json, depth: number): Json => {
    const next = change(value, depth);
    if (Array.isArray(next)) return next.map((item) => walk(item, depth + 1));
    if (!isObject(next)) return next;
    const members = Object.entries(next).map(([key, member]) => [key, walk(member, depth + 1)]);
    return Object.fromEntries(members);
  };
  return storing((record) => walk(record, 1) as Entity);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
