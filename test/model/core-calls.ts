import {
  isRostrumError,
  type JsonObject,
  type Position,
  type Rostrum,
  type User,
  type UserInput,
  type UserService,
  type Versioned,
} from '../../src/index.ts';
import type { Calls, Outcome, Page, Resource } from './calls.ts';

/** Makes the calls directly on the core. */
export function coreCalls(rostrum: Rostrum): Calls {
  // Inputs can be anything, and both services have the same methods.
  const service = (resource: Resource) => rostrum[resource] as UserService;
  return {
    create: (resource, input, options) =>
      outcome(async () => {
        const made = await service(resource).create(input as UserInput, options);
        return { ...seen(made), replayed: made.replayed };
      }),
    get: (resource, id) => outcome(async () => seen(await service(resource).get(id))),
    change: (how, resource, id, input, precondition) =>
      outcome(async () => {
        const change = how === 'update' ? (record: JsonObject) => ({ ...record, ...input }) : input;
        return seen(await service(resource)[how](id, change as never, precondition));
      }),
    delete: (resource, id, options) =>
      outcome(async () => {
        await service(resource).delete(id, options);
        return { deleted: true };
      }),
    list: (resource, call) =>
      outcome(async () => {
        const pages: Page[] = [];
        let after: Position | undefined;
        do {
          const request = { ...call, after, total: true };
          const page = await service(resource).list(request as Parameters<UserService['list']>[0]);
          const records = page.items.map(({ record }) => record as JsonObject);
          pages.push({ records, total: page.total ?? -1 });
          after = page.next;
        } while (after !== undefined);
        return { pages };
      }),
  };
}

function seen({ record, version }: Versioned<User>) {
  return { record, version };
}

/** Returns the result of a call, or its Rostrum error. Rethrows any other error. */
async function outcome(call: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await call();
  } catch (error) {
    if (!isRostrumError(error)) throw error;
    const { code, details } = error;
    if (!('issues' in details)) return { error: code, ...('id' in details ? {} : details) };
    const issues = details.issues.map((issue) => `${issue.pointer} ${issue.code}`);
    return { error: code, issues };
  }
}
