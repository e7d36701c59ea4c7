import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import { checkSqlite } from '../adapters/sqlite/index.ts';
import { isRostrumError } from '../domain/errors.ts';
import type { FieldIssue } from '../domain/fields/issues.ts';
import { rules } from '../domain/fields/rules.ts';
import type { Entity } from '../domain/records/record.ts';
import { RecordModel } from '../domain/records/record-model.ts';
import { exitCodes, explainOpening, type StoreSetting, storeUrlOf } from './failure.ts';
import { grouped, print } from './output.ts';
import { runLong } from './run-long.ts';
import { storeSource } from './transfer/source.ts';
import { withStore } from './with-store.ts';

/**
 * `rostrum check`: lists the stored records that are invalid by the rules, by the declared fields, or by the
 * schemas of custom fields. The exit code is 2 if there are any.
 */
export async function checkCommand(named: StoreSetting, files: SchemaFiles): Promise<void> {
  const schemas = await readSchemaFiles(files);
  const file = storeUrlOf(named);
  if (file.kind === 'sqlite') {
    await checkSqlite(file).catch((error) => Promise.reject(explainOpening(error, named)));
  }
  const counted = await runLong(
    ({ progress, signal }) =>
      withStore(named, 'source', async (store) => {
        const source = storeSource(store, signal);
        const { users, posts } = await source.count();
        let [all, invalid] = [0, 0];
        for (const list of ['users', 'posts'] as const) {
          const declared = store.declaredFields?.[list];
          const model = new RecordModel<Entity>(rules[list], schemas[list], declared);
          for await (const { record } of source[list]()) {
            const issues = issuesOf(record, model);
            const wrong = issues.map(({ pointer, message }) => `${pointer} ${message}`);
            const name = `${list.slice(0, -1)} ${record.id}`;
            if (wrong.length > 0) print(`${name}: ${wrong.join(' ')}`);
            if (wrong.length > 0) invalid += 1;
            all += 1;
            progress('checked', all, users + posts);
          }
        }
        return { all, invalid };
      }),
    () => 'run the same command again',
  );
  const { all, invalid } = counted;
  print(
    invalid === 0
      ? `All ${grouped(all)} records are valid.`
      : `${grouped(invalid)} of ${grouped(all)} records are not valid.`,
  );
  if (file.kind === 'sqlite') print('The tables and indexes of the data file are sound.');
  if (invalid > 0) process.exitCode = exitCodes.rejected;
}

function issuesOf(record: Entity, model: RecordModel<Entity>): readonly FieldIssue[] {
  try {
    model.create(record, record.id, record.createdAt);
    return [];
  } catch (error) {
    if (!isRostrumError(error, 'invalid-record')) throw error;
    return error.details.issues;
  }
}
