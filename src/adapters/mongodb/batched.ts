import type { Connection } from './connection/connection.ts';
import { limits } from './connection/limits.ts';

/** What says how the documents of a store lie. */
export type Cluster = Pick<Connection, 'isSharded'>;

/**
 * Gathers operations on single documents that are asked for in one turn of the event loop. They share
 * a command, which costs the driver and the server many times as much as one more document in it.
 *
 * @param send sends some of them in one command, and settles each; it never rejects
 * @returns what adds an operation
 */
export function batched<T>(
  cluster: Cluster,
  send: (operations: readonly T[]) => Promise<void>,
): (operation: T) => void {
  let waiting: T[] = [];

  function sendAll(): void {
    const all = waiting;
    waiting = [];
    // A shard may fail alone: a command for documents of several would fail with it.
    const most = cluster.isSharded ? 1 : limits.batch;
    for (let n = 0; n < all.length; n += most) void send(all.slice(n, n + most));
  }

  return (operation) => {
    if (waiting.push(operation) === 1) setImmediate(sendAll);
  };
}
