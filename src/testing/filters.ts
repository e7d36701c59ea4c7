import type { EntityFilter } from '../domain/page.ts';
import type { Entity } from '../domain/record.ts';
import { at, times } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import { matches, put } from './matching.ts';
import { describePostFilters } from './post-filters.ts';
import type { Suite } from './suite.ts';
import { describeUserFilters } from './user-filters.ts';

/** Each filter, and filters together. */
export function describeFilters(suite: Suite): void {
  suite.group('filters', () => {
    filtersOf(users, suite);
    filtersOf(posts, suite);
    describeUserFilters(suite);
    describePostFilters(suite);
  });
}

function filtersOf<R extends Entity>({ name, of, make }: Kind<R>, { test }: Suite): void {
  test(`${name}: a filter that says nothing matches all`, async (store) => {
    const ids = await put(of(store), [make(), make()]);
    const silent: EntityFilter = { ids: undefined, createdAt: {}, updatedAt: undefined };
    for (const filter of [{}, silent, { createdAt: { from: undefined, before: undefined } }]) {
      await matches(of(store), filter, ids);
    }
  });

  test(`${name}: ids: any of these; unknown and repeated ones change nothing`, async (store) => {
    const [a = '', b = '', c = ''] = await put(of(store), [make(), make(), make()]);
    await matches(of(store), { ids: [c, a] }, [a, c]);
    await matches(of(store), { ids: [b, b, 'none', b, '', '\0', '__proto__'] }, [b]);
    await matches(of(store), { ids: ['none'] }, []);
    const hundred = times(97, (n) => `none-${n}`);
    await matches(of(store), { ids: [...hundred, c, b, a] }, [a, b, c]);
  });

  test(`${name}: an empty list of ids matches nothing`, async (store) => {
    await put(of(store), [make()]);
    await matches(of(store), { ids: [] }, []);
  });

  for (const field of ['createdAt', 'updatedAt'] as const) {
    test(`${name}: a span of ${field} has its first moment and not its last`, async (store) => {
      const moments = [at(0), at(1), at(2), at(3)];
      const records = moments.map((moment, n) => make({ createdAt: at(n), [field]: moment }));
      const [a = '', b = '', c = '', d = ''] = await put(of(store), records);
      const span = (from?: number, before?: number): EntityFilter => ({
        [field]: {
          from: from === undefined ? undefined : at(from),
          before: before === undefined ? undefined : at(before),
        },
      });
      await matches(of(store), span(1, 3), [b, c]);
      await matches(of(store), span(2), [c, d]);
      await matches(of(store), span(undefined, 2), [a, b]);
      await matches(of(store), span(2, 2), []);
      await matches(of(store), span(3, 1), []);
      await matches(of(store), span(4), []);
      await matches(of(store), span(undefined, 0), []);
    });
  }

  test(`${name}: createdAt and updatedAt are two fields`, async (store) => {
    const made = make({ createdAt: at(0), updatedAt: at(9) });
    await put(of(store), [made]);
    await matches(of(store), { createdAt: { before: at(1) }, updatedAt: { from: at(9) } }, [
      made.id,
    ]);
    await matches(of(store), { updatedAt: { before: at(9) } }, []);
    await matches(of(store), { createdAt: { from: at(1) } }, []);
  });
}
