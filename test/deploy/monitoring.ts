import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../support/repository-copy.ts';
import type { Server } from '../support/server.ts';

const read = (name: string) => readFileSync(join(repository, 'deploy', name), 'utf8');

const rules = read('prometheus/rostrum.rules.yml');

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly Target[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly query: string | { readonly query: string } }[];
  };
  readonly annotations: { readonly list: readonly Pick<Target, 'expr'>[] };
}

export const dashboard: Dashboard = JSON.parse(read('grafana/rostrum.json'));

/** Returns the expressions of the alerts, on the line of `expr:` or below it. */
export function alertExpressions(): string[] {
  return [...rules.matchAll(/^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
    ([, block, line]) => block ?? line ?? '',
  );
}

/** Sends requests that produce data for every panel: successes, probes, problems, and failing store calls. */
export async function makeTraffic({ address }: Server): Promise<void> {
  const user = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"name":"Ada","email":"ada@example.com"}',
  };
  for (const path of ['/livez', '/readyz', '/api/v1/posts', '/none']) await fetch(address + path);
  for (let n = 0; n < 2; n++) await fetch(`${address}/api/v1/users`, user);
  // Large enough to trigger garbage collection.
  const body = JSON.stringify({ title: 'Long', body: 'x'.repeat(90_000) });
  for (let n = 0; n < 20; n++) await fetch(`${address}/api/v1/posts`, { ...user, body });
}
