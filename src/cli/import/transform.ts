import { accessSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
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
    const isOurs = String(error).includes('rostrum/import');
    const hint = isOurs ? ' Import its types with import type.' : '';
    throw new Failure(`The transform ${path} cannot be loaded. ${String(error)}.${hint}`);
  });
  const { users, posts, source } = module;
  const functions = [users, posts, ...Object.values(source ?? {})].filter(Boolean);
  if (functions.length === 0 || functions.some((one) => typeof one !== 'function')) {
    throw new Failure(
      `The transform ${path} must export a function named users or posts. If it exports source, ` +
        'that must be an object with such functions.',
    );
  }
  if (as === undefined || module[as] || source) return { users, posts, source };
  throw new Failure(`The transform ${path} has no function named ${as}, which --as asks for.`);
}

/** Transforms rows, and records which of their fields are read. */
export class Transformer {
  readonly #module: TransformModule;
  readonly #context: Omit<TransformContext, 'place'>;
  readonly #seen = new Set<string>();
  readonly #read = new Set<PropertyKey>();

  constructor(module: TransformModule, context: Omit<TransformContext, 'place'>) {
    this.#module = module;
    this.#context = context;
  }

  /** The fields that have values and were never read. */
  get unread(): readonly string[] {
    return [...this.#seen].filter((name) => !this.#read.has(name));
  }

  /** @returns the records made from a row; undefined if there is no transform */
  async apply(list: Collection, place: string, content: unknown) {
    const transform = this.#module[list];
    if (transform === undefined) return undefined;
    const row = isPlainObject(content) ? this.#watched(content) : content;
    const made: unknown = await transform(row as Row, { ...this.#context, place });
    return made === null ? [] : [made].flat();
  }

  #watched(row: Row): Row {
    for (const [name, value] of Object.entries(row)) {
      if (value !== '' && this.#seen.size < mostFields) this.#seen.add(name);
    }
    return new Proxy(row, {
      get: (target, name) => {
        this.#read.add(name);
        return target[name as string];
      },
    });
  }
}
