import type { FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import { pageLimits } from '../../../domain/lists/list.ts';
import { sortsOf } from '../../../domain/lists/list-request.ts';
import {
  lastPublishedFirst,
  maxFilterIds,
  newestFirst,
  type Order,
} from '../../../domain/lists/search.ts';
import { integer, oneOf, type Parameter } from '../endpoint.ts';
import { declaredParameters } from './declared-filters.ts';
import { bounds, readInstant } from './ranges.ts';

/** Formats an order as a value of `sort`. */
function sortOf({ by, direction }: Order<string>): string {
  return `${direction === 'desc' ? '-' : ''}${by}`;
}

/** The description of lists. */
export const pageDescription = `A page has at most "limit" records, at most ${pageLimits.records}, and at most 1 MiB. Only "next" tells whether more follow.`;

const limit: Parameter = {
  name: 'limit',
  description: 'The maximum number of records on the page.',
  ...integer(1, pageLimits.max, pageLimits.records),
};

const cursor: Parameter = {
  name: 'cursor',
  description: 'The "next" of the previous page. Valid only with the same filter and sort.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
  example: 'WyIzZm1aIiwiMjAyNi0xMS0yOVQwNToxMjowOC42NjBaIiwicDEiXQ',
};

const count: Parameter = {
  name: 'count',
  description: 'With "exact", the response has the number of records that match.',
  ...oneOf(['exact']),
};

const fields = text(
  'fields',
  'Only these fields of each record, and its id: names separated by commas.',
  'createdAt,updatedAt',
);

const id: Parameter = {
  name: 'id',
  description: 'Only records with one of these ids.',
  schema: { type: 'array', items: { type: 'string' }, maxItems: maxFilterIds },
  example: ['0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a'],
  maxCount: maxFilterIds,
};

/** @param hasOneDefault true if the default order is the same for all callers */
function sort(fields: readonly string[], hasOneDefault: boolean): Parameter {
  const values = fields.flatMap((field) => [field, `-${field}`]);
  const description = 'The field to sort by; "-" in front for descending.';
  const first = sortOf(newestFirst);
  const others = `Default: ${first}, or ${sortOf(lastPublishedFirst)} for callers who see public posts only.`;
  return hasOneDefault
    ? { name: 'sort', description, ...oneOf(values, first) }
    : { name: 'sort', description: `${description} ${others}`, ...oneOf(values) };
}

function text(name: string, description: string, example: string): Parameter {
  return { name, description, schema: { type: 'string' }, example };
}

function timesOf(...fields: readonly string[]): readonly Parameter[] {
  return fields.flatMap((field) =>
    Object.entries(bounds).map(([bound, sign]) => ({
      name: `${field}[${bound}]`,
      description: `Only records whose ${field} is ${sign} this.`,
      schema: { type: 'string', format: 'date-time' },
      example: '2026-11-21T09:30:00Z',
      check: (value: string) =>
        readInstant(value) ? undefined : 'Must be an RFC 3339 date-time: 2026-11-21T09:30:00Z.',
    })),
  );
}

function startsWith(name: string, example: string): Parameter {
  const description = `Only records whose ${name} starts with this, ignoring case.`;
  return text(`${name}[startsWith]`, description, example);
}

/** The parameters of every list. */
function common(sorts: readonly string[], hasOneDefault: boolean): readonly Parameter[] {
  return [limit, cursor, sort(sorts, hasOneDefault), count, fields, id];
}

export const userListParameters = (fields?: FieldDeclarations): readonly Parameter[] => [
  ...common(sortsOf('users', fields), true),
  text('email', 'Only the user with this email address, ignoring case.', 'ada@example.com'),
  text('name', 'Only users with exactly this name.', 'Ada'),
  startsWith('name', 'ad'),
  startsWith('email', 'ada@'),
  ...timesOf('createdAt', 'updatedAt'),
  ...declaredParameters(fields),
];

export const postListParameters = (fields?: FieldDeclarations): readonly Parameter[] => [
  ...common(sortsOf('posts', fields), false),
  {
    ...text(
      'authorId',
      "Only posts by this user. Empty: posts without an author. me: the caller's own.",
      '0192f0c0-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
    ),
    check: (value) =>
      value === 'null' ? 'Must be empty for posts without an author: authorId=.' : undefined,
  },
  text('title', 'Only posts with exactly this title.', 'On engines'),
  startsWith('title', 'on e'),
  {
    name: 'include',
    description: 'With "author", the member "users" has the public view of the authors.',
    ...oneOf(['author']),
  },
  {
    name: 'publishedAt',
    description: 'With "null", only drafts.',
    ...oneOf(['null']),
  },
  ...timesOf('createdAt', 'updatedAt', 'publishedAt'),
  ...declaredParameters(fields),
];
