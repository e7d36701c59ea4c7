import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../src/index.ts';
import type { Calls, ListCall, Outcome, Resource } from './calls.ts';
import {
  idempotency,
  inputs,
  type ListShape,
  listShapes,
  patches,
  preconditions,
} from './inputs.ts';
import type { Model } from './model.ts';

/** The real thing, with the clock and the next id that the model tells it. */
export interface Real {
  readonly calls: Calls<Promise<Outcome>>;
  readonly steer: (model: Model) => void;
}

type Command = fc.AsyncCommand<Model, Real>;

/** One call; what it names is chosen when the command runs, from what the model has by then. */
function command(
  name: string,
  args: readonly unknown[],
  choose: (model: Model) => <T>(calls: Calls<T>) => T,
): Command {
  return {
    check: () => true,
    async run(model, { calls, steer }) {
      const call = choose(model);
      steer(model);
      const expected = call(model);
      expect(await call(calls)).to.deep.equal(expected);
    },
    toString: () => `${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`,
  };
}

/**
 * An id, mostly of a record that is there, counted from the youngest; sometimes of one that is gone
 * or never was.
 */
function pick(model: Model, resource: Resource, index: number): string {
  const ids = index % 6 === 5 ? model.made[resource] : model.alive(resource);
  return ids[ids.length - 1 - (index % (ids.length + 1))] ?? 'never-was';
}

/** Authors are numbered from the youngest user (`#0`) until the command runs. */
const authors = ['#0', '#1', '#2', '#3', '#4', '#9'];

/** Three records with such a field are about as large as a page may be. */
const largeBytes = 698_900;

/** An input with the ids and the sizes that it stands for. */
function resolve(model: Model, generated: JsonObject): JsonObject {
  // As JSON, because fast-check makes some objects without a prototype.
  const input: JsonObject = JSON.parse(JSON.stringify(generated));
  const { authorId, large } = input;
  return {
    ...input,
    ...(typeof authorId === 'string' &&
      authorId.startsWith('#') && { authorId: pick(model, 'users', Number(authorId.slice(1))) }),
    ...(typeof large === 'string' && {
      large: large.repeat(Math.trunc(largeBytes / Buffer.byteLength(large))),
    }),
  };
}

const index = fc.nat({ max: 23 });

function commandsOf(resource: Resource): fc.Arbitrary<Command>[] {
  const create = fc.tuple(inputs(resource, authors), idempotency).map(([generated, options]) =>
    command('create', [resource, generated, options], (model) => {
      const input = resolve(model, generated);
      return (calls) => calls.create(resource, input, options);
    }),
  );

  /** The same request once more, as of a client that never saw the response, or of another one. */
  const repeat = fc
    .tuple(fc.nat({ max: 3 }), fc.constantFrom({}, {}, { caller: 'b' }))
    .map(([at, other]) =>
      command('repeat', [resource, at, other], (model) => {
        const first = model.claimed(resource).at(at);
        const input = first?.input ?? { name: 'Ada', title: 'Ada' };
        const options = { idempotencyKey: 'k1', ...first?.options, ...other };
        return (calls) => calls.create(resource, input, options);
      }),
    );

  const get = index.map((at) =>
    command('get', [resource, at], (model) => {
      const id = pick(model, resource, at);
      return (calls) => calls.get(resource, id);
    }),
  );

  const change = fc.constantFrom('replace', 'patch', 'patch', 'update').chain((how) =>
    fc
      .tuple(index, (how === 'replace' ? inputs : patches)(resource, authors), preconditions)
      .map(([at, generated, precondition]) =>
        command(how, [resource, at, generated, precondition], (model) => {
          const id = pick(model, resource, at);
          const input = resolve(model, generated);
          return (calls) => calls.change(how, resource, id, input, precondition);
        }),
      ),
  );

  const modes = resource === 'users' ? (['refuse', 'delete', 'keep'] as const) : [];
  const remove = fc
    .tuple(index, fc.constantFrom(undefined, ...modes), preconditions)
    .map(([at, posts, precondition]) =>
      command('delete', [resource, at, posts, precondition], (model) => {
        const id = pick(model, resource, at);
        const options = { ...precondition, ...(posts && { posts }) };
        return (calls) => calls.delete(resource, id, options);
      }),
    );

  const list = listShapes(resource, index).map((shape) =>
    command('list', [resource, shape], (model) => {
      const call = listCall(model, resource, shape);
      return (calls) => calls.list(resource, call);
    }),
  );

  // As often as it takes for lists to have records in them, and for keys to meet.
  return [...Array(5).fill(create), repeat, get, change, change, change, remove, list, list];
}

function listCall(model: Model, resource: Resource, shape: ListShape): ListCall {
  const { ids, authorId, createdFrom, updatedBefore, name, email, title } = shape.filter;
  const instant = (ms: number) => new Date(model.now + ms).toISOString();
  const filter = {
    ...(ids && { ids: ids.map((at) => pick(model, resource, at)) }),
    ...(authorId !== undefined && {
      authorId: authorId === null ? null : pick(model, 'users', authorId),
    }),
    ...(createdFrom !== undefined && { createdAt: { from: instant(createdFrom) } }),
    ...(updatedBefore !== undefined && { updatedAt: { before: instant(updatedBefore) } }),
    ...(name && { name }),
    ...(email && { email }),
    ...(title && { title }),
  };
  return { ...shape, filter };
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

export const commands = [...commandsOf('users'), ...commandsOf('posts'), tick, tick];
