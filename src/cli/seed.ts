import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import { instantFromMs } from '../domain/records/instant.ts';
import type { Store } from '../ports/store.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { Failure, type StoreSetting } from './failure.ts';
import type { ListRow } from './import/data-file.ts';
import { type ImportOptions, importRecords } from './import/import-records.ts';
import { type Counts, countsText, print } from './output.ts';
import { runLong } from './run-long.ts';
import { withStore } from './with-store.ts';

const names = 'Ada Amara Chen Elif Farid Grace Hana Kofi Lena Noor Yuki'.split(' ');
const families = 'Abara Berg Diaz Gupta Haddad Ito Nguyen Rossi Silva Zhang'.split(' ');
const subjects = 'bread bicycles gardens letters maps mountains radios rivers tea'.split(' ');
const titles = ['On {}', 'A short history of {}', 'What {} taught me', 'In praise of {}'];
const body = 'It began with {}, as so many things do. The library had three books about {}.';

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
  await runLong(
    (run) =>
      withStore(named, 'target', (store) =>
        seedRecords(store, { users, posts }, { ...run, customFields, added }),
      ),
    () => `run the same command again for more: ${countsText(added)} are added already`,
  );
  print(`Added ${countsText(added)}`, `  to   ${redactStoreUrl(named.url)}`);
}

/** Imports generated records. @throws Failure if a schema requires custom fields */
export async function seedRecords(
  store: Store,
  { users, posts }: Counts,
  options: Pick<ImportOptions, 'progress' | 'signal' | 'customFields' | 'added'>,
): Promise<void> {
  const now = Date.now();
  const run = now.toString(36); // Keeps the ids and addresses of several runs distinct.
  const pick = (texts: readonly string[], n: number) => texts[n % texts.length] ?? '';
  const text = (texts: readonly string[], n: number) =>
    pick(texts, n).replaceAll('{}', pick(subjects, n));
  const userAt = (n: number) => {
    const name = `${pick(names, n)} ${pick(families, n)}`;
    const email = `${name.toLowerCase().replace(' ', '.')}.${run}-${n}@example.com`;
    return { id: `${run}-${n}`, name, email };
  };
  const postAt = (n: number) => {
    const authorId = users > 0 ? `${run}-${n % users}` : null;
    return { title: text(titles, n), body: text([body], n), authorId };
  };
  const rows = function* (): Generator<ListRow> {
    for (let n = 0; n < users + posts; n++) {
      const createdAt = instantFromMs(
        now - spreadMs + Math.floor((n * spreadMs) / (users + posts)),
      );
      if (n < users) yield { place: '', list: 'users', content: { ...userAt(n), createdAt } };
      else yield { place: '', list: 'posts', content: { ...postAt(n - users), createdAt } };
    }
  };
  await importRecords({ name: 'rostrum seed', rows: rows() }, store, {
    ...options,
    keepIds: true,
    instant: String,
    report({ issues: [issue] }) {
      throw new Failure(
        `rostrum seed sets no custom fields, but the schema rejects ${issue?.pointer}: ${issue?.message}`,
      );
    },
  });
}
