import type { SchemaFiles } from '../adapters/json-schema/index.ts';
import type { CustomFieldsSchemas } from '../domain/services/rostrum.ts';
import { Failure } from './failure.ts';

export type { SchemaFiles };

/** @throws Failure in one sentence about the file */
export async function readSchemas(files: SchemaFiles): Promise<CustomFieldsSchemas> {
  const { readSchemaFiles, SchemaFileError } = await import('../adapters/json-schema/index.ts');
  try {
    return await readSchemaFiles(files);
  } catch (error) {
    throw error instanceof SchemaFileError ? new Failure(error.message) : error;
  }
}
