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
import type { Oracle } from './oracle.ts';

type Command = fc.AsyncCommand<Oracle, Calls>;

/** A call. Its records are chosen when it runs, from those that the oracle has then. */
function command<Args>(
  name: string,
  arbitrary: fc.Arbitrary<Args>,
  choose: (oracle: Oracle, args: Args) => (calls: Calls) => Promise<Outcome>,
): fc.Arbitrary<Command> {
  return arbitrary.map((args) => ({
    check: () => true,
    async run(oracle, calls) {
      const call = choose(oracle, args);
      const expected = await oracle.ask(call);
      expect(await call(calls)).to.deep.equal(expected);
    },
    toString: () => `${name} ${JSON.stringify(args)}`,
  }));
}

/**
 * Returns an id, mostly of an existing record counted from the newest, sometimes of a deleted or unknown one.
 */
function pick(oracle: Oracle, resource: Resource, index: number): string {
  const ids = (index % 6 === 5 ? oracle.made : oracle.alive)[resource];
  return ids[ids.length - 1 - (index % (ids.length + 1))] ?? 'never-was';
}

/** Three posts with a field of this size are about as large as the page limit. */
const largeBytes = 698_900;

/** Replaces placeholders for ids and large values in a generated input. */
function resolve(oracle: Oracle, generated: object): JsonObject {
  // Via JSON, because fast-check generates some objects without a prototype.
  const input: Record<string, Json> = JSON.parse(JSON.stringify(generated));
  const { authorId, large } = input;
  if (typeof authorId === 'string' && authorId.startsWith('#')) {
    input.authorId = pick(oracle, 'users', Number(authorId.slice(1)));
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
    (oracle, [generated, options]) => {
      const given = resolve(oracle, generated);
      return (calls) => calls.create(resource, given, options);
    },
  );

  const change = (how: Change, given: fc.Arbitrary<object>) =>
    command(
      `${how} ${resource}`,
      fc.tuple(indexes, given, preconditions),
      (oracle, [at, generated, precondition]) => {
        const id = pick(oracle, resource, at);
        const fields = resolve(oracle, generated);
        return (calls) => calls.change(how, resource, id, fields, precondition);
      },
    );

  const list = command(`list ${resource}`, listShapes, (oracle, shape) => {
    const call = listCall(oracle, resource, shape);
    return (calls) => calls.list(resource, call);
  });

  return [
    // Often enough to fill lists and to reuse keys.
    ...[create, create, create, create, create],

    // Repeats a request, like a client that never received the response, or another client.
    command(
      `repeat ${resource}`,
      fc.tuple(fc.nat({ max: 3 }), fc.constantFrom({}, {}, { caller: 'b' })),
      (oracle, [at, other]) => {
        const first = oracle.keyed[resource].at(-1 - at);
        const given = first?.input ?? { name: 'Ada', title: 'Ada' };
        const options = { idempotencyKey: 'k1', ...first?.options, ...other };
        return (calls) => calls.create(resource, given, options);
      },
    ),

    command(`get ${resource}`, indexes, (oracle, at) => {
      const id = pick(oracle, resource, at);
      return (calls) => calls.get(resource, id);
    }),

    change('replace', input),
    change('patch', input),
    change('patch', patches),
    change('update', fc.oneof(input, patches)),

    command(
      `delete ${resource}`,
      fc.tuple(indexes, deletion, preconditions),
      (oracle, [at, mode, precondition]) => {
        const id = pick(oracle, resource, at);
        return (calls) => calls.delete(resource, id, { ...mode, ...precondition });
      },
    ),

    list,
    list,
  ];
}

function listCall(oracle: Oracle, resource: Resource, shape: ListShape): ListCall {
  const { ids, authorId, createdFrom, updatedBefore, name, email, by, direction, limit } = shape;
  const instant = (ms?: number) =>
    ms === undefined ? undefined : new Date(oracle.now + ms).toISOString();
  const common = {
    ids: ids?.map((at) => pick(oracle, resource, at)),
    createdAt: { from: instant(createdFrom) },
    updatedAt: { before: instant(updatedBefore) },
  };
  const author = typeof authorId === 'number' ? pick(oracle, 'users', authorId) : authorId;
  const isText = by === 'name' || by === 'email';
  return resource === 'users'
    ? { filter: { ...common, name, email }, order: { by, direction }, limit }
    : {
        filter: { ...common, title: name, authorId: author },
        order: { by: isText ? 'title' : by, direction },
        limit,
      };
}

/** Advances the clock, sets it back, or jumps past the lifetime of a receipt. */
const tick = fc
  .constantFrom(0, 1, 1, 999, 10_000, -5000, 24 * 3_600_000 - 1, 24 * 3_600_000)
  .map((ms): Command => {
    return {
      check: () => true,
      async run(oracle) {
        oracle.tick(ms);
      },
      toString: () => `tick(${ms})`,
    };
  });

export const commands = [...commandsOf('users'), ...commandsOf('posts'), tick, tick];
