import { accessSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { Row, Source, Transform, TransformContext } from '../../import.ts';
import { Failure } from '../failure.ts';

/** The exports of a transform module. */
export interface TransformModule {
  readonly users?: Transform;
  readonly posts?: Transform;
  readonly source?: Source;
}

/** How many fields are watched: each record can have names of its own. */
const mostFields = 200;

/** @throws Failure if the module cannot be loaded, or exports no transform for the collection `as` */
export async function loadTransforms(path: string, as?: Collection): Promise<TransformModule> {
  accessSync(path);
  const module = await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    throw new Failure(`The transform ${path} cannot be loaded. ${String(error)}.`);
  });
  const { users, posts, source } = module;
  const functions = [users, posts, ...Object.values(source ?? {})].filter(Boolean);
  const isComplete = source || (as ? module[as] : (users ?? posts));
  if (isComplete && functions.every((one) => typeof one === 'function')) {
    return { users, posts, source };
  }
  throw new Failure(
    `The transform ${path} must export a function named ${as ?? 'users or posts'}. If it exports source, ` +
      'that must be an object with such functions.',
  );
}

export type Transformer = ReturnType<typeof createTransformer>;

/** Transforms rows, and records which of their fields are read. */
export function createTransformer(
  module: TransformModule,
  context: Omit<TransformContext, 'place'>,
) {
  const [seen, read] = [new Set<string>(), new Set<PropertyKey>()];
  const watched = (row: Row): Row => {
    for (const [name, value] of Object.entries(row)) {
      if (value !== '' && seen.size < mostFields) seen.add(name);
    }
    return new Proxy(row, {
      get: (target, name) => {
        read.add(name);
        return target[name as string];
      },
    });
  };
  return {
    /** Returns the fields that have values and were never read. */
    unread: () => [...seen].filter((name) => !read.has(name)),
    /** @returns the records made from a row; undefined if there is no transform */
    apply: async (list: Collection, place: string, content: unknown) => {
      const transform = module[list];
      if (transform === undefined) return undefined;
      const row = isPlainObject(content) ? watched(content) : content;
      const made: unknown = await transform(row as Row, { ...context, place });
      return made === null ? [] : [made].flat();
    },
  };
}
