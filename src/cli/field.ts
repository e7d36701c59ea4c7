import {
  type CollectionField,
  type DeclaredFields,
  formatField,
  listFields,
} from '../domain/fields/declared-fields.ts';
import { declaredFieldsOf } from '../settings/settings.ts';
import { Failure, type StoreSetting } from './failure.ts';
import { print } from './output.ts';
import { withStore } from './with-store.ts';

/** `rostrum field list`: prints the declared fields of a database. */
export async function listFieldsCommand(named: StoreSetting): Promise<void> {
  for (const field of await fieldsIn(named)) print(formatField(field));
}

/** `rostrum field add`: declares fields. */
export async function addFieldsCommand(
  named: StoreSetting,
  declarations: readonly string[],
): Promise<void> {
  await add(named, declarations);
  print(`Declared: ${declarations.join(', ')}`);
}

/** `rostrum field set`: changes the type of a declared field, or whether it is unique. */
export async function setFieldCommand(named: StoreSetting, declaration: string): Promise<void> {
  fieldsOf([declaration]);
  const before = await removeField(named, declaration.replace(/:.*/, ''));
  try {
    await add(named, [declaration]);
  } catch (error) {
    await add(named, [before]).catch(() => {
      throw new Failure(
        `${(error as Error).message} ${before} is removed, and could not be declared again.`,
      );
    });
    throw error;
  }
  print(`Declared: ${declaration} (it was ${before})`);
}

/** `rostrum field remove`: removes a declaration, and keeps the values. */
export async function removeFieldCommand(named: StoreSetting, name: string): Promise<void> {
  print(`Removed: ${await removeField(named, name)}`);
}

async function fieldsIn(named: StoreSetting): Promise<readonly CollectionField[]> {
  return withStore(named, 'source', async ({ declaredFields = {} }) => listFields(declaredFields));
}

async function add(named: StoreSetting, declarations: readonly string[]): Promise<void> {
  await withStore(named, 'source', async () => {}, { declaredFields: fieldsOf(declarations) });
}

/** @throws Failure for declarations that cannot be used */
export function fieldsOf(declarations: readonly string[]): DeclaredFields {
  try {
    return declaredFieldsOf([...new Set(declarations)]);
  } catch (error) {
    throw new Failure((error as Error).message);
  }
}

/** @returns the declaration that was removed */
async function removeField(named: StoreSetting, path: string): Promise<string> {
  return withStore(named, 'source', async (store) => {
    const fields = listFields(store.declaredFields ?? {});
    const field = fields.find(({ collection, name }) => `${collection}.${name}` === path);
    if (field === undefined) throw new Failure(`The database does not declare ${path}.`);
    await store.undeclare(field.collection, field.name);
    return formatField(field);
  });
}
