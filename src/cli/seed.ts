import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import { addMs, instantFromMs } from '../domain/instant.ts';
import type { Collection } from '../domain/record.ts';
import type { Store } from '../ports/store.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { type Counts, countsText } from './count.ts';
import { Failure, type StoreSetting } from './failure.ts';
import { type ImportOptions, importRecords } from './import/import-records.ts';
import { print } from './output.ts';
import { type LongRun, runLong } from './run-long.ts';
import { withStore } from './with-store.ts';

const names = 'Ada Amara Chen Elif Farid Grace Hana Kofi Lena Noor Yuki'.split(' ');
const families = 'Abara Berg Diaz Gupta Haddad Ito Nguyen Rossi Silva Zhang'.split(' ');
const subjects = 'bread bicycles gardens letters maps mountains radios rivers tea'.split(' ');
const titles = ['On {}', 'A short history of {}', 'What {} taught me', 'In praise of {}'];
const bodies = [
  'It began with {}, as so many things do. We read all about {} that the library had.',
  'There are three things to know about {}, and the first is patience.',
  'The best advice about {} fits on a postcard. Since then, {} and I get along.',
];

/** The period before now that the records' times are spread over. */
const spreadMs = 300 * 24 * 60 * 60 * 1000;

export type SeedFlags = Partial<Counts> & SchemaFiles;

/** `rostrum seed`: adds sample users and posts. */
export async function seedCommand(
  named: StoreSetting,
  { users = 10, posts = 100, ...files }: SeedFlags = {},
): Promise<void> {
  const customFields = await readSchemaFiles(files);
  const added = { users: 0, posts: 0 };
  const next = () => `run the same command again for more: ${countsText(added)} are added already`;
  const seed = (store: Store, run: LongRun) =>
    seedRecords(store, { users, posts }, { ...run, customFields, added });
  await runLong((run) => withStore(named, 'target', (store) => seed(store, run)), next);
  print(`Added ${countsText(added)}`, `  to   ${redactStoreUrl(named.url)}`);
}

/** Imports generated records. @throws Failure if a schema requires custom fields */
export async function seedRecords(
  store: Store,
  counts: Counts,
  options: Pick<ImportOptions, 'progress' | 'signal' | 'customFields' | 'added'>,
): Promise<void> {
  const all = counts.users + counts.posts;
  if (all === 0) return;
  const from = instantFromMs(Date.now() - spreadMs);
  let made = 0;
  const clock = { now: () => addMs(from, Math.floor((made++ * spreadMs) / all)) };
  const run = Date.now().toString(36); // Keeps the addresses of several runs distinct.
  const pick = (texts: readonly string[], n: number) => texts[n % texts.length] ?? '';
  const text = (texts: readonly string[], n: number) =>
    pick(texts, n).replaceAll('{}', pick(subjects, n));
  const recordAt = (list: Collection, n: number) => {
    const authorId = counts.users > 0 ? n % counts.users : null;
    if (list === 'posts') return { title: text(titles, n), body: text(bodies, n), authorId };
    const [name, family] = [pick(names, n), pick(families, n)];
    const email = `${name}.${family}.${run}-${n}@example.com`.toLowerCase();
    return { id: n, name: `${name} ${family}`, email };
  };
  const rows = async function* () {
    for (const list of ['users', 'posts'] as const) {
      for (let n = 0; n < counts[list]; n++) {
        yield { place: `${list}[${n}]`, bytes: 500, content: recordAt(list, n), list };
      }
    }
  };
  const file = { name: 'seed', bytes: 500 * all, rows: rows() };
  await importRecords(file, store, {
    ...{ ...options, clock, keepIds: false, skipInvalid: false, instant: String },
    report({ issues: [issue] }) {
      throw new Failure(
        `rostrum seed sets no custom fields, but the schema rejects ${issue?.pointer}: ${issue?.message}`,
      );
    },
  });
}
