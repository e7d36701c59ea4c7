import { createApp, serve } from '../../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { CustomFieldsSchema } from '../../../../src/index.ts';
import { createRostrum } from '../../../../src/index.ts';

/** A real server on the memory store. */
export interface Api extends AsyncDisposable {
  /** Where the API is. */
  readonly url: string;
}

export interface ApiOptions {
  readonly userSchema?: CustomFieldsSchema;
  readonly requireIfMatch?: boolean;
}

/** Serves the API on any free port of loopback. */
export async function startApi({ userSchema, requireIfMatch }: ApiOptions = {}): Promise<Api> {
  const store = createMemoryStore();
  const rostrum = createRostrum(store, userSchema && { customFields: { users: userSchema } });
  const server = await serve(createApp(rostrum, { ready: store.ready, requireIfMatch }), {
    port: 0,
  });
  return {
    url: `${server.url}/api/v1`,
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}
