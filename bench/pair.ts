import { join } from 'node:path';
import { Child } from './child.ts';
import { inputAt } from './data.ts';
import type { Options } from './options.ts';
import { fill, inputs, requestKinds, wire } from './requests.ts';
import { say, table } from './results.ts';
import { Figures, inTurn, ratios, spread } from './rounds.ts';
import { buildServers, startServer } from './servers.ts';
import { busy, type Turn, takeTurn } from './turns.ts';
import type { Workspace } from './workspace.ts';

const sides = ['one', 'other'] as const;

const declared = ['posts.slug:text:unique', 'posts.views:number', 'posts.tags:text[]'];

/** Returns the input of post number n, with values for the fields declared above. */
function withFields(n: number): object {
  const tags = [`tag-${n % 7}`, `tag-${n % 50}`, `tag-${n % 900}`];
  return { ...inputAt(n), slug: `post-${n}`, views: (n * 7919) % 10_000, tags };
}

/** Requests with unique slugs, more than a server can handle in that time. */
function newPosts(from: number, ms: number): string[] {
  const body = (_: unknown, n: number) => JSON.stringify(withFields(from + n));
  return Array.from({ length: ms * 15 }, body).map((json) => wire('POST', '/api/v1/posts', json));
}

/**
 * Compares the program with the build of `--against` or, with `--fields`, three declared fields with none,
 * measuring only POST. Returns a Markdown table.
 */
export async function measurePair(options: Options, workspace: Workspace): Promise<string> {
  const { rounds, turns, warmMs, busyMs, against, withDeclaredFields } = options;
  const program = buildServers();
  const script = join(import.meta.dirname, 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const rows: string[][] = [];
  for (const store of options.stores) {
    if (!(await workspace.has(store))) continue;
    const kinds = requestKinds.filter((kind) => !withDeclaredFields || kind === 'POST');
    const all = kinds.map((kind) => ({ kind, figures: new Figures<string, keyof Turn>() }));
    for (let round = 0; round < rounds; round++) {
      say(`${store}, round ${round + 1} of ${rounds}`);
      await using stack = new AsyncDisposableStack();
      const start = async (given: string, args: readonly string[] = []) => {
        const url = (await workspace.newStore(store)) ?? '';
        return stack.use(await startServer('Rostrum', workspace, { program: given, url, args }));
      };
      const servers = {
        one: await start(
          program,
          withDeclaredFields ? declared.flatMap((f) => ['--field', f]) : [],
        ),
        other: await start(against ?? program),
      };
      const requests = {
        one: await fill(servers.one, inputs),
        other: await fill(servers.other, inputs),
      };
      let sent = 0;
      for (const { kind, figures } of all) {
        for (let turn = -1; turn < turns; turn++) {
          for (const side of inTurn(sides, turn)) {
            const ms = turn < 0 ? warmMs : busyMs;
            const isNew = withDeclaredFields && side === 'one';
            const given = isNew ? newPosts(sent, ms) : requests[side][kind];
            const load = { connections: busy, ms, requests: given };
            const taken = await takeTurn(client, servers[side], load);
            if (isNew) sent += taken.requests;
            if (turn >= 0) figures.add(side, taken);
          }
        }
      }
    }
    for (const { kind, figures } of all) {
      const { one, other } = figures.columns();
      if (one === undefined || other === undefined) continue;
      for (const [name, figure] of [
        ['processor time in µs', 'cpuUs'],
        ['requests/s', 'rate'],
      ] as const) {
        const [values, others] = [one[figure], other[figure]];
        const ratio = spread(ratios(values, others), 2);
        rows.push([store, kind, name, spread(values, 0), spread(others, 0), ratio]);
      }
    }
  }
  const names = withDeclaredFields ? ['three declared fields', 'none'] : ['now', 'before'];
  return table(['store', 'request', 'figure', ...names, 'ratio'], rows);
}
