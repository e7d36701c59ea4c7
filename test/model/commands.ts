import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Calls, Condition, Kind } from './calls.ts';
import { conditions, inputs, keys, type ListShape, listShapes, patches } from './inputs.ts';
import type { Model } from './model.ts';
import type { Outcome } from './outcome.ts';

/** The real thing, with the clock and the ids that the model steers. */
export interface Real {
  readonly calls: Calls;
  readonly nextId: () => string;
  readonly setClock: (ms: number) => void;
}

type Command = fc.AsyncCommand<Model, Real>;

/** A command whose answer the model knows beforehand. */
function command(
  name: string,
  args: readonly unknown[],
  run: (model: Model, real: Real) => [Outcome, Promise<Outcome>],
): Command {
  return {
    check: () => true,
    async run(model, real) {
      real.setClock(model.now);
      const [expected, actual] = run(model, real);
      expect(await actual).to.deep.equal(expected);
    },
    toString: () => `${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`,
  };
}

/**
 * An id, mostly of a record that is there, counted from the youngest; sometimes of one that is gone
 * or never was. Chosen when the command runs, so that a shorter sequence still makes sense.
 */
function pick(model: Model, kind: Kind, index: number): string {
  const ids = index % 6 === 5 ? model.made[kind] : model.alive(kind);
  return ids[ids.length - 1 - (index % (ids.length + 1))] ?? 'never-was';
}

/** Authors are named by their place (`#0` is the youngest user) until the command runs. */
const authors = ['#0', '#1', '#2', '#3', '#4', '#9'];

function resolve(model: Model, generated: JsonObject): JsonObject {
  // As JSON, because fast-check makes some objects without a prototype.
  const input: JsonObject = JSON.parse(JSON.stringify(generated));
  const author = input.authorId;
  if (typeof author !== 'string' || !author.startsWith('#')) return input;
  return { ...input, authorId: pick(model, 'users', Number(author.slice(1))) };
}

const kinds = fc.constantFrom<Kind>('users', 'posts');
const index = fc.nat({ max: 23 });

const create = kinds.chain((kind) =>
  fc.tuple(inputs(kind, authors), keys).map(([input, key]) =>
    command('create', [kind, input, key], (model, real) => {
      const given = resolve(model, input);
      const expected = model.create(kind, given, real.nextId(), key);
      return [expected, real.calls.create(kind, given, key)];
    }),
  ),
);

/** The same request once more, as a client sends it who never saw the answer. */
const repeat = fc.tuple(kinds, fc.nat({ max: 3 })).map(([kind, at]) =>
  command('repeat', [kind, at], (model, real) => {
    const [key, body] = model.used(kind).at(at) ?? ['k1', { name: 'Ada', title: 'Ada' }];
    const expected = model.create(kind, body, real.nextId(), key);
    return [expected, real.calls.create(kind, body, key)];
  }),
);

const get = fc.tuple(kinds, index).map(([kind, at]) =>
  command('get', [kind, at], (model, { calls }) => {
    const id = pick(model, kind, at);
    return [model.get(kind, id), calls.get(kind, id)];
  }),
);

function change(how: 'replace' | 'patch', of: typeof inputs) {
  return kinds.chain((kind) =>
    fc.tuple(index, of(kind, authors), conditions).map(([at, input, condition]) =>
      command(how, [kind, at, input, condition], (model, { calls }) => {
        const id = pick(model, kind, at);
        const given = resolve(model, input);
        return [model[how](kind, id, given, condition), calls[how](kind, id, given, condition)];
      }),
    ),
  );
}

const deleteUser = fc
  .tuple(index, fc.constantFrom('refuse' as const, 'delete' as const, 'keep' as const), conditions)
  .map(([at, posts, condition]: [number, 'refuse' | 'delete' | 'keep', Condition]) =>
    command('deleteUser', [at, posts, condition], (model, { calls }) => {
      const id = pick(model, 'users', at);
      return [model.deleteUser(id, posts, condition), calls.deleteUser(id, posts, condition)];
    }),
  );

const deletePost = fc.tuple(index, conditions).map(([at, condition]) =>
  command('deletePost', [at, condition], (model, { calls }) => {
    const id = pick(model, 'posts', at);
    return [model.deletePost(id, condition), calls.deletePost(id, condition)];
  }),
);

const list = kinds.chain((kind) =>
  fc.tuple(listShapes(kind), fc.array(index, { maxLength: 4 })).map(([shape, at]) =>
    command('list', [shape, at], (model, { calls }) => {
      const call = fillIn(model, shape, at);
      return [model.list(call), calls.list(call)];
    }),
  ),
);

function fillIn(model: Model, { ids, authorId, ...shape }: ListShape, at: readonly number[]) {
  const { createdFrom, updatedBefore } = shape;
  const author = at[0] === undefined ? null : pick(model, 'users', at[0]);
  return {
    ...shape,
    ...(ids && { ids: at.map((i) => pick(model, shape.kind, i)) }),
    ...(authorId && { authorId: author }),
    ...(createdFrom !== undefined && { createdFrom: model.now + createdFrom }),
    ...(updatedBefore !== undefined && { updatedBefore: model.now + updatedBefore }),
  };
}

/** The clock goes on, stands, steps back, or jumps over the life of a claim. */
const tick = fc
  .constantFrom(0, 1, 1, 999, 10_000, -5000, 24 * 3_600_000 - 1, 24 * 3_600_000)
  .map((ms): Command => {
    return {
      check: () => true,
      async run(model) {
        model.tick(ms);
      },
      toString: () => `tick(${ms})`,
    };
  });

export const commands: fc.Arbitrary<Command>[] = [
  create,
  create,
  create,
  create,
  create,
  repeat,
  get,
  change('replace', inputs),
  change('patch', patches),
  change('patch', patches),
  deleteUser,
  deletePost,
  list,
  list,
  tick,
];
