import type { Context } from 'koa';
import { createApp, serve } from '../../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type {
  CallerInput,
  CustomFieldsSchema,
  DeclaredFields,
  Scope,
} from '../../../../src/index.ts';
import { createRostrum } from '../../../../src/index.ts';
import { createClient } from '../../src/index.ts';

/** A real server on the memory store. */
export interface Api extends AsyncDisposable {
  /** The URL of the API. */
  readonly url: string;
}

export interface ApiOptions {
  readonly declaredFields?: DeclaredFields;
  readonly userSchema?: CustomFieldsSchema;
  readonly requireIfMatch?: boolean;
  /** Callers by token. Without it, every client has all permissions. */
  readonly callers?: Readonly<Record<string, CallerInput>>;
  readonly anonymous?: readonly Scope[];
}

/** Serves the API on a free port of loopback. */
export async function startApi(options: ApiOptions = {}): Promise<Api> {
  const { declaredFields, userSchema, requireIfMatch, callers, anonymous } = options;
  const store = createMemoryStore({ declaredFields });
  const rostrum = createRostrum(store, userSchema && { customFields: { users: userSchema } });
  const authenticate =
    callers && ((ctx: Context) => callers[ctx.get('Authorization').replace('Bearer ', '')]);
  const parts = { ready: store.ready, requireIfMatch, authenticate, anonymous };
  const server = await serve(createApp(rostrum, parts), { port: 0 });
  return {
    url: `${server.url}/api/v1`,
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}

/** Serves two posts with declared fields: A with 12 views and the tags x and y, and B with 2 views and the tag x. */
export async function startApiWithFields(): Promise<Api> {
  const fields = { slug: 'text', views: 'number', hot: 'boolean', tags: 'text[]' } as const;
  const api = await startApi({ declaredFields: { posts: fields } });
  const { posts } = createClient({ url: api.url });
  await posts.create({ title: 'A', slug: 'a', views: 12, hot: false, tags: ['x', 'y'] });
  await posts.create({ title: 'B', slug: 'b', views: 2, hot: true, tags: ['x'] });
  return api;
}
