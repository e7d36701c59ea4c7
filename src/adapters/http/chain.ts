import type { RouterMiddleware } from '@koa/router';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import type { Operation } from './endpoints/resources.ts';
import type { Exchange } from './exchange.ts';

type Next = () => Promise<unknown>;
type AnyStep<C> = (ctx: C, next: Next) => unknown;

/** What the steps know: `boundary.ts` makes the exchange, and the first step finds the endpoint. */
export interface State {
  exchange: Exchange;
  operation: Operation;
  /** The core, bound to the caller. */
  rostrum: Rostrum;
}

export type Step = RouterMiddleware<State>;

/** A step that does nothing; it is left out of chains. */
export const pass = (_ctx: unknown, next: Next) => next();

/** The `next` of the last step. */
export const end = async () => {};

/**
 * Many steps as one, as koa-compose makes them, which is no dependency of those who embed this. What a
 * step throws before it returns, `next` throws as well. `next` is bound, as a function around it would
 * be one call more for each step.
 */
export function inOrder<C>(steps: readonly AnyStep<C>[]): (ctx: C, next: Next) => Promise<unknown> {
  const wanted = steps.filter((step) => step !== pass);
  return (ctx, next) => {
    const run = (i: number): Promise<unknown> => {
      const step = wanted[i];
      return step === undefined ? next() : Promise.resolve(step(ctx, run.bind(undefined, i + 1)));
    };
    return run(0);
  };
}
