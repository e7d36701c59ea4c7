import type { Entity, Versioned } from '../../src/domain/record.ts';
import {
  type CreateOptions,
  type Creation,
  isRostrumError,
  type JsonObject,
  type Page as ListPage,
  type ListRequest,
  type Position,
  type Precondition,
  type Rostrum,
} from '../../src/index.ts';
import type { Calls, Outcome, Page, Resource } from './calls.ts';

/** What the services of users and posts have in common, to who has an input of any type. */
interface Service {
  create(input: JsonObject, options: CreateOptions): Promise<Creation<Entity>>;
  get(id: string): Promise<Versioned<Entity>>;
  replace(id: string, input: JsonObject, options: Precondition): Promise<Versioned<Entity>>;
  patch(id: string, patch: JsonObject, options: Precondition): Promise<Versioned<Entity>>;
  update(
    id: string,
    change: (record: JsonObject) => JsonObject,
    options: Precondition,
  ): Promise<Versioned<Entity>>;
  delete(id: string, options: Precondition): Promise<void>;
  list(request: ListRequest<object, string>): Promise<ListPage<Entity>>;
}

/** The calls, made on the core itself. */
export function coreCalls(rostrum: Rostrum): Calls<Promise<Outcome>> {
  const service = (resource: Resource) => rostrum[resource] as unknown as Service;
  return {
    create: (resource, input, options) =>
      outcome(async () => {
        const made = await service(resource).create(input, options);
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
          const page = await service(resource).list({ ...call, after, total: true });
          const records = page.items.map(({ record }) => record);
          pages.push({ records, total: page.total ?? -1 });
          after = page.next;
        } while (after !== undefined);
        return { pages };
      }),
  };
}

function seen({ record, version }: Versioned<Entity>) {
  return { record, version };
}

/** What a call ends in: its value, or the core's error; any other error is a failure. */
async function outcome(call: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await call();
  } catch (error) {
    if (!isRostrumError(error)) throw error;
    const { code, details } = error;
    if (!('issues' in details)) return { error: code, ...('id' in details ? {} : details) };
    const issues = details.issues.map((issue) => `${issue.pointer} ${issue.code}`);
    return { error: code, issues: issues.sort() };
  }
}
