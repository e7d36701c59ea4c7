import type { Condition } from '../../domain/lists/list.ts';
import { instantFields, searchFields } from '../../domain/lists/search.ts';
import { earliestInstant, latestInstant } from '../../domain/records/instant.ts';
import type { Entity } from '../../domain/records/record.ts';
import { prefixSpan } from '../../domain/records/text.ts';
import { similarTexts, times, unknownTexts } from '../fixtures.ts';
import { type Resource, rowOf, type Suite } from '../suite.ts';
import { expectMatches, expectSelected, insert, oneOf } from './lists.ts';

/** Conditions of lists on search fields. The random calls combine them. */
export function describeFilters({ testEach }: Suite): void {
  for (const op of ['eq', 'in', 'from', 'before', 'isNull'] as const) {
    testEach(`"${op}" on each search field`, async (resource) => {
      const created = await insertVaried(resource);
      const fields = ['id', ...Object.keys(searchFields[resource.name])];
      for (const field of fields) {
        const rows = created.map((record) => rowOf(resource.name, record));
        const found = rows.flatMap((row) => row[field] ?? []);
        for (const condition of conditionsOf(field, op, [...new Set(found)])) {
          await expectSelected(resource, created, condition);
        }
      }
    });
  }

  testEach('texts that begin with another text', async (resource) => {
    const created = await insertVaried(resource);
    const field = resource.name === 'users' ? 'nameKey' : 'titleKey';
    const texts = [...created.map((record) => rowOf(resource.name, record)[field] ?? ''), 'οδοσ'];
    for (const start of new Set(texts.flatMap(beginningsOf))) {
      const { from, before } = prefixSpan(start);
      const ends = before === undefined ? [] : [{ field, op: 'before', value: before } as const];
      await expectSelected(resource, created, { field, op: 'from', value: from }, ...ends);
    }
  });

  testEach('"in" with a hundred ids', async ({ records, make }) => {
    const [a = '', b = '', c = ''] = await insert(records, [make(), make(), make()]);
    await expectMatches(records, [oneOf('id', [b, b, 'none', b, '', '__proto__'])], [b]);
    const hundred = [...times(97, (n) => `none-${n}`), c, b, a];
    await expectMatches(records, [oneOf('id', hundred)], [a, b, c]);
  });
}

/** Returns the first one and two code points of a text, all but the last one, and the whole text. */
function beginningsOf(text: string): string[] {
  const points = Array.from(text);
  return [1, 2, points.length - 1, points.length].map((count) => points.slice(0, count).join(''));
}

function conditionsOf(field: string, op: Condition['op'], found: readonly string[]): Condition[] {
  if (op === 'isNull') return [{ field, op }];
  const isTime = instantFields.includes(field);
  const sought = [...found, ...(isTime ? [earliestInstant, latestInstant] : unknownTexts)];
  if (op === 'eq') return sought.map((value) => ({ field, op, value }));
  if (op === 'in')
    return times(6, (n) => ({ field, op, value: sought.filter((_, m) => m % 6 === n) }));
  // Strings with a given prefix end before the next prefix of the same length.
  const ends = isTime ? [] : sought.flatMap((text) => prefixSpan(text).before ?? []);
  return [...sought, ...ends].filter((_, n) => n % 3 === 0).map((value) => ({ field, op, value }));
}

/** Stores records with similar texts; every third user has no address. */
async function insertVaried<R extends Entity>({ name, records, make }: Resource<R>): Promise<R[]> {
  const created = similarTexts.map((text, n) => {
    if (name === 'posts') return make({ title: text });
    const email = `${text.replace(/[^\p{L}%$.]/gu, '')}${n}@example.com`;
    return make({ name: text, email: n % 3 > 0 ? email : null });
  });
  await insert(records, created);
  return created;
}
