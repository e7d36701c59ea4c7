import { addMs, instantFromMs } from '../domain/instant.ts';
import type { Store } from '../ports/store.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { readSchemas, type SchemaFiles } from './custom-fields.ts';
import { Failure, type StoreSetting } from './failure.ts';
import type { DataFile, List } from './import/data-file.ts';
import { readNames } from './import/field-names.ts';
import { type ImportOptions, importRecords } from './import/import-records.ts';
import { runLong } from './run-long.ts';
import { countsText } from './transfer/source.ts';
import { withStore } from './with-store.ts';

export interface SeedFlags extends SchemaFiles {
  readonly users?: number;
  readonly posts?: number;
}

/** The records' times are spread over the days before now. */
const spreadMs = 300 * 24 * 60 * 60 * 1000;

/** `rostrum seed`: adds users and posts that a person may play with, as an import of a file does. */
export async function seedCommand(
  named: StoreSetting,
  { users = 10, posts = 100, ...files }: SeedFlags = {},
): Promise<void> {
  const customFields = await readSchemas(files);
  const added = { users: 0, posts: 0 };
  const onAdded = (list: List, count: number) => {
    added[list] += count;
  };
  const next = () => `${countsText(added)} were added, and stay`;
  await runLong(
    (run) =>
      withStore(named, 'target', (store) =>
        seedRecords(store, { users, posts }, { ...run, customFields, onAdded }),
      ),
    next,
  );
  process.stdout.write(`Added ${countsText(added)}\n  to   ${redactStoreUrl(named.url)}\n`);
}

/** @throws Failure where a schema asks for custom fields: nothing is added then */
export async function seedRecords(
  store: Store,
  counts: Readonly<Record<List, number>>,
  options: Pick<ImportOptions, 'progress' | 'signal' | 'customFields' | 'onAdded'>,
): Promise<void> {
  const all = counts.users + counts.posts;
  if (all === 0) return;
  const from = instantFromMs(Date.now() - 2 * spreadMs);
  let made = 0; // Each record is made twice: when it is checked, and when it is added.
  await importRecords(dataOf(counts), store, {
    ...options,
    ...{ keepIds: false, skipInvalid: false, names: readNames([]) },
    clock: { now: () => addMs(from, Math.floor((made++ * spreadMs) / all)) },
    report({ issues: [{ pointer, message } = { pointer: '', message: '' }] }) {
      throw new Failure(
        `Seed makes no records that fit the schema of custom fields, which says of ${pointer}: ${message}`,
      );
    },
  });
}

function dataOf(counts: Readonly<Record<List, number>>): DataFile {
  const run = Date.now().toString(36); // No other run makes the same addresses.
  const pick = (texts: readonly string[], n: number) => texts[n % texts.length] ?? '';
  const recordAt = {
    users(n: number) {
      const [first, last] = [pick(firstNames, n), pick(lastNames, n)];
      const email = `${first}.${last}.${run}-${n}@example.com`.toLowerCase();
      return { id: n, name: `${first} ${last}`, email };
    },
    posts(n: number) {
      const about = (text: string) => text.replace('{}', pick(subjects, n));
      const body = [0, 1, 2].map((line) => about(pick(sentences, n * 3 + line))).join(' ');
      const authorId = counts.users > 0 ? (n * 7) % counts.users : null;
      return { title: about(pick(titles, n)), body, authorId };
    },
  };
  return {
    ...{ path: 'seed', bytes: 0, lists: ['users', 'posts'], others: [] },
    async *read(list) {
      for (let n = 0; n < counts[list]; n++) {
        yield { place: `${list}[${n}]`, bytes: 500, value: recordAt[list](n) };
      }
    },
  };
}

const firstNames = 'Ada Amara Chen Elif Farid Grace Hana Kofi Lena Noor Yuki'.split(' ');
const lastNames = 'Abara Berg Diaz Gupta Haddad Ito Lindqvist Nguyen Rossi Zhang'.split(' ');
const subjects = 'bread bicycles gardens letters maps mountains radios rivers tea'.split(' ');
const titles = ['On {}', 'A short history of {}', 'What {} taught me', 'In praise of {}'];
const sentences = [
  'It began with {}, as so many things do.',
  'There are three things to know about {}, and the first is patience.',
  'The best advice about {} fits on a postcard.',
  'We read everything about {} that the library had.',
  'Since then, {} and I get along.',
];
