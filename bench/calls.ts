import { once } from 'node:events';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Options } from './options.ts';
import { fill, inputsOfPosts, requestKinds } from './requests.ts';
import { type Report, table } from './results.ts';
import { buildServers, startServer } from './servers.ts';
import type { Workspace } from './workspace.ts';

/** Requests of a kind, one after another. */
const count = 200;

/**
 * How many of our own functions a request calls, on a store in memory and with the access log. A
 * figure without noise, which says where to look and not how long it takes: V8 inlines most of them.
 */
export async function measureCalls(options: Options, workspace: Workspace): Promise<Report> {
  const program = buildServers(options.program);
  const own = pathToFileURL(`${dirname(program)}/`).href;
  await using server = await startServer('Rostrum', workspace, { program, url: 'memory:' });
  const requests = await fill(server, inputsOfPosts());
  const socket = connect(server.port, '127.0.0.1');
  const rows: { readonly kind: string; readonly calls: number; readonly functions: number }[] = [];
  for (const kind of requestKinds) {
    const ask = async (times: number) => {
      for (let n = 0; n < times; n++) {
        const { length } = requests[kind];
        socket.write(requests[kind][n % length] ?? '');
        await once(socket, 'data');
      }
      await sleep(100); // The log is written later.
    };
    await ask(20);
    await server.calls();
    await ask(count);
    const calls = Object.entries(await server.calls())
      .filter(([url]) => url.startsWith(own))
      .flatMap(([, times]) => times.map((one) => Math.round(one / count)).filter((one) => one > 0));
    rows.push({ kind, calls: calls.reduce((sum, one) => sum + one, 0), functions: calls.length });
  }
  socket.destroy();
  const body = rows.map(({ kind, calls, functions }) => [kind, String(calls), String(functions)]);
  const markdown = table(['request', 'calls', 'different functions'], body);
  return { markdown, data: { calls: rows } };
}
