import { expect } from 'chai';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/index.ts';
import type { Calls, Change, ListCall, Outcome, Resource } from './calls.ts';
import {
  idempotency,
  indexes,
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

/** One call; what it names is chosen when it runs, from what the model has by then. */
function command<Args>(
  name: string,
  arbitrary: fc.Arbitrary<Args>,
  choose: (model: Model, args: Args) => <T>(calls: Calls<T>) => T,
): fc.Arbitrary<Command> {
  return arbitrary.map((args) => ({
    check: () => true,
    async run(model, { calls, steer }) {
      const call = choose(model, args);
      steer(model);
      const expected = call(model);
      expect(await call(calls)).to.deep.equal(expected);
    },
    toString: () => `${name} ${JSON.stringify(args)}`,
  }));
}

/**
 * An id, mostly of a record that is there, counted from the youngest; sometimes of one that is gone
 * or never was.
 */
function pick(model: Model, resource: Resource, index: number): string {
  const ids = index % 6 === 5 ? model.made[resource] : model.alive(resource);
  return ids[ids.length - 1 - (index % (ids.length + 1))] ?? 'never-was';
}

/** Three posts with such a field are about as large as a page may be. */
const largeBytes = 698_900;

/** An input with the ids and the sizes that it stands for. */
function resolve(model: Model, generated: object): JsonObject {
  // As JSON, because fast-check makes some objects without a prototype.
  const input: Record<string, Json> = JSON.parse(JSON.stringify(generated));
  const { authorId, large } = input;
  if (typeof authorId === 'string' && authorId.startsWith('#')) {
    input.authorId = pick(model, 'users', Number(authorId.slice(1)));
  }
  if (typeof large === 'string') {
    input.large = large.repeat(Math.trunc(largeBytes / Buffer.byteLength(large)));
  }
  return input;
}

function commandsOf(resource: Resource): fc.Arbitrary<Command>[] {
  const input = inputs[resource];
  const modes = resource === 'users' ? (['refuse', 'delete', 'keep'] as const) : [];
  const deletion = fc.constantFrom({}, ...modes.map((posts) => ({ posts })));

  const create = command(
    `create ${resource}`,
    fc.tuple(input, idempotency),
    (model, [generated, options]) => {
      const given = resolve(model, generated);
      return (calls) => calls.create(resource, given, options);
    },
  );

  const change = (how: Change, given: fc.Arbitrary<object>) =>
    command(
      `${how} ${resource}`,
      fc.tuple(indexes, given, preconditions),
      (model, [at, generated, precondition]) => {
        const id = pick(model, resource, at);
        const fields = resolve(model, generated);
        return (calls) => calls.change(how, resource, id, fields, precondition);
      },
    );

  const list = command(`list ${resource}`, listShapes, (model, shape) => {
    const call = listCall(model, resource, shape);
    return (calls) => calls.list(resource, call);
  });

  return [
    // Often enough for lists to have records in them, and for keys to meet.
    ...[create, create, create, create, create],

    // The same request again, of a client that never saw the response, or of another client.
    command(
      `repeat ${resource}`,
      fc.tuple(fc.nat({ max: 3 }), fc.constantFrom({}, {}, { caller: 'b' })),
      (model, [at, other]) => {
        const first = model.receiptsOf(resource).at(at);
        const given = first?.input ?? { name: 'Ada', title: 'Ada' };
        const options = { idempotencyKey: 'k1', ...first?.options, ...other };
        return (calls) => calls.create(resource, given, options);
      },
    ),

    command(`get ${resource}`, indexes, (model, at) => {
      const id = pick(model, resource, at);
      return (calls) => calls.get(resource, id);
    }),

    change('replace', input),
    change('patch', input),
    change('patch', patches),
    change('update', fc.oneof(input, patches)),

    command(
      `delete ${resource}`,
      fc.tuple(indexes, deletion, preconditions),
      (model, [at, mode, precondition]) => {
        const id = pick(model, resource, at);
        return (calls) => calls.delete(resource, id, { ...mode, ...precondition });
      },
    ),

    list,
    list,
  ];
}

function listCall(model: Model, resource: Resource, shape: ListShape): ListCall {
  const { ids, authorId, createdFrom, updatedBefore, name, email, by, direction, limit } = shape;
  const instant = (ms?: number) =>
    ms === undefined ? undefined : new Date(model.now + ms).toISOString();
  const common = {
    ids: ids?.map((at) => pick(model, resource, at)),
    createdAt: { from: instant(createdFrom) },
    updatedAt: { before: instant(updatedBefore) },
  };
  const author = typeof authorId === 'number' ? pick(model, 'users', authorId) : authorId;
  const isText = by === 'name' || by === 'email';
  return resource === 'users'
    ? { filter: { ...common, name, email }, order: { by, direction }, limit }
    : {
        filter: { ...common, title: name, authorId: author },
        order: { by: isText ? 'title' : by, direction },
        limit,
      };
}

/** The clock goes on, stands, steps back, or jumps over the life of a receipt. */
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
