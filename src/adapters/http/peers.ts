import type { RouterInstance, RouterOptions } from '@koa/router';
import type { Middleware } from 'koa';
import { loadPeers } from '../peer.ts';

/** What of koa-bodyparser's options is used here; its own types do not know the last one. */
interface ParserOptions {
  readonly enableTypes: string[];
  readonly jsonLimit: string;
  readonly strict: boolean;
  readonly detectJSON: () => boolean;
  readonly onProtoPoisoning: 'ignore';
}

interface Peers {
  readonly Koa: typeof import('koa');
  readonly Router: new (options: RouterOptions) => RouterInstance;
  readonly bodyParser: (options: ParserOptions) => Middleware;
}

export const { Koa, Router, bodyParser }: Peers = await loadPeers(
  'rostrum/http',
  'koa @koa/router koa-bodyparser',
  async () => {
    const [koa, router, parser] = await Promise.all([
      import('koa'),
      import('@koa/router'),
      import('koa-bodyparser'),
    ]);
    return {
      Koa: koa.default,
      Router: router.Router,
      bodyParser: parser.default as (options: ParserOptions) => Middleware,
    };
  },
);
