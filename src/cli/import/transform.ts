import { accessSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { Read, Row, Source, Transform, TransformContext } from '../../import.ts';
import { Failure, fileFailure } from '../failure.ts';

/** The exports of a transform module. */
export interface TransformModule {
  readonly users?: Transform;
  readonly posts?: Transform;
  readonly source?: Source;
  readonly read?: Read;
}

/** How many fields are watched: each record can have names of its own. */
const mostFields = 200;

/** How many reasons for leaving rows out are counted: each row can have its own. */
const mostReasons = 20;

/** How long the module can take to load, and a function for one row. */
const patienceMs = 30_000;

/** How long a `read` function can take: it can load a whole site over the network. */
const readMs = 3_600_000;

/** @throws Failure if the module cannot be loaded, or exports no transform for the collection `as` */
export async function loadTransforms(
  path: string,
  as?: Collection,
  waitMs = patienceMs,
): Promise<TransformModule> {
  accessSync(path);
  const loading = import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    throw new Failure(`The transform ${path} cannot be loaded. ${String(error)}.`);
  });
  const module = Object(await settled(loading, `Loading the transform ${path}`, waitMs));
  const { users, posts, source, read } = module;
  const functions = [users, posts, read, ...Object.values(source ?? {})].filter(Boolean);
  const isComplete = source || (as ? module[as] : (users ?? posts));
  if (isComplete && functions.every((one) => typeof one === 'function')) {
    return { users, posts, source, read };
  }
  throw new Failure(
    `The transform ${path} must export a function named ${as ?? 'users or posts'}. If it exports source, ` +
      'that must be an object with such functions.',
  );
}

/** Opens a file in a format that only the transform can read. @throws Failure */
export async function readDocument(path: string, read: Read): Promise<unknown> {
  try {
    return await settled(read(path), `Reading ${path}`, readMs);
  } catch (error) {
    const { message } = error as Error;
    throw fileFailure(error) ?? new Failure(`The transform cannot read ${path}: ${message}.`);
  }
}

export type Transformer = ReturnType<typeof createTransformer>;

/** Transforms rows, and records which of their fields are read by name, and which only copied. */
export function createTransformer(
  module: TransformModule,
  given: Pick<TransformContext, 'file' | 'instant'>,
  waitMs = patienceMs,
) {
  const [seen, read, copied] = [new Set<string>(), new Set<PropertyKey>(), new Set<PropertyKey>()];
  const leftOut = new Map<string, number>();
  const context = {
    ...given,
    leaveOut: (reason: string) => {
      const counted = leftOut.has(reason) || leftOut.size < mostReasons ? reason : 'others';
      leftOut.set(counted, (leftOut.get(counted) ?? 0) + 1);
      return null;
    },
  };
  const watched = (row: Row): Row => {
    for (const [name, value] of Object.entries(row)) {
      if (value !== '' && seen.size < mostFields) seen.add(name);
    }
    // A copy such as `...row` gets the names; then, for each, first the descriptor and then the value.
    let names = new Set<PropertyKey>();
    let described: PropertyKey | undefined;
    return new Proxy(row, {
      ownKeys: (target) => {
        names = new Set(Reflect.ownKeys(target));
        return [...names] as string[];
      },
      getOwnPropertyDescriptor: (target, name) => {
        described = name;
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
      get: (target, name) => {
        const isCopy = described === name && names.delete(name);
        (isCopy ? copied : read).add(name);
        return target[name as string];
      },
    });
  };
  return {
    transforms: (list: Collection) => module[list] !== undefined,
    /** The rows that were left out, by reason. */
    leftOut: leftOut as ReadonlyMap<string, number>,
    isRead: (name: string) => read.has(name),
    /** Returns the fields with values that were never read, and those that were only copied. */
    unread: () => {
      const names = [...seen].filter((name) => !read.has(name));
      return {
        unused: names.filter((name) => !copied.has(name)),
        copied: names.filter((name) => copied.has(name)),
      };
    },
    /** @returns the records made from a row; undefined if there is no transform */
    apply: async (list: Collection, place: string, content: unknown) => {
      const transform = module[list];
      if (transform === undefined) return undefined;
      const row = isPlainObject(content) ? watched(content) : content;
      const made: unknown = transform(row as Row, { ...context, place });
      const isPromise = typeof Object(made).then === 'function';
      const value = isPromise ? await settled(made, `The transform of ${place}`, waitMs) : made;
      return value === null ? [] : [value].flat();
    },
  };
}

/**
 * Waits for a promise of the user's code. Without a timer, Node would exit with 0 if nothing else is left
 * to wait for.
 */
async function settled(promise: unknown, what: string, waitMs: number): Promise<unknown> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const sentence = `${what} did not end within ${waitMs / 1000} seconds: its promise does not settle.`;
  const timer = setTimeout(() => reject(new Failure(sentence)), waitMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
