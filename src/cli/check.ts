import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import { isRostrumError } from '../domain/errors.ts';
import type { Entity } from '../domain/record.ts';
import { RecordModel } from '../domain/record-model.ts';
import { rules } from '../domain/rules.ts';
import { grouped } from './count.ts';
import { exitCodes, type StoreSetting } from './failure.ts';
import { print } from './output.ts';
import { runLong } from './run-long.ts';
import { storeSource } from './transfer/source.ts';
import { withStore } from './with-store.ts';

/**
 * `rostrum check`: lists the records of a store that the rules, or the schemas of custom fields, refuse
 * as they are stored. Exit code 2 when there are some.
 */
export async function checkCommand(named: StoreSetting, files: SchemaFiles): Promise<void> {
  const schemas = await readSchemaFiles(files);
  const counted = await runLong(
    ({ progress, signal }) =>
      withStore(named, 'source', async (store) => {
        const source = storeSource(store, signal);
        const { users, posts } = await source.count();
        let [all, invalid] = [0, 0];
        progress.begin('checking', users + posts);
        for (const list of ['users', 'posts'] as const) {
          const model = new RecordModel<Entity>(rules[list], schemas[list]);
          for await (const { record } of source[list]()) {
            const wrong = wrongOf(record, model);
            const name = `${list.slice(0, -1)} ${record.id}`;
            if (wrong !== undefined) print(`${name}: ${wrong}`);
            if (wrong !== undefined) invalid += 1;
            all += 1;
            progress.advance(1);
          }
        }
        progress.end();
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
  if (invalid > 0) process.exitCode = exitCodes.refused;
}

/** What is wrong with a record: pointers and sentences. */
function wrongOf(record: Entity, model: RecordModel<Entity>): string | undefined {
  try {
    model.make(record, record.id, record.createdAt);
    return undefined;
  } catch (error) {
    if (!isRostrumError(error, 'invalid-record')) throw error;
    return error.details.issues.map(({ pointer, message }) => `${pointer} ${message}`).join(' ');
  }
}
