import type { OwnFieldsSchemas } from '../domain/services/rostrum.ts';
import type { Settings } from '../settings/settings.ts';
import { Failure } from './failure.ts';

/** The files of a deployment's schemas. */
export type SchemaFiles = Partial<Pick<Settings, 'userSchema' | 'postSchema'>>;

/** @throws Failure in one sentence about the file */
export async function readSchemas(files: SchemaFiles): Promise<OwnFieldsSchemas> {
  const { userSchema, postSchema } = files;
  if (userSchema === undefined && postSchema === undefined) return {};
  const { readSchemaFile, SchemaFileError } = await import('../adapters/json-schema/index.ts');
  try {
    return {
      users: userSchema === undefined ? undefined : await readSchemaFile(userSchema, 'users'),
      posts: postSchema === undefined ? undefined : await readSchemaFile(postSchema, 'posts'),
    };
  } catch (error) {
    throw error instanceof SchemaFileError ? new Failure(error.message) : error;
  }
}
