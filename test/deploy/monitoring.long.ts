// Runs Prometheus with the example in deploy/ and a real server. Prometheus must be on the PATH:
// `apt-get install prometheus`.

import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { dashboard, makeTraffic } from './monitoring.ts';

const example = join(repository, 'deploy', 'prometheus');

/** The parts of a Prometheus response that the tests use. */
interface Answer {
  readonly result: readonly { readonly value: readonly [number, string] }[];
  readonly groups: readonly { readonly rules: readonly { health: string; state: string }[] }[];
}

describe('Prometheus', () => {
  it('accepts the example, and raises each alert for a failing server', async () => {
    for (const args of [
      ['check', 'config', 'prometheus.yml'],
      ['test', 'rules', 'rostrum.rules.test.yml'],
    ]) {
      const { code, output } = await outcomeOf(start('promtool', args, { cwd: example }));
      expect(code, output).to.equal(0);
    }
  });

  it('scrapes a server, and has data for each panel of the dashboard', async () => {
    await using folder = await temporaryDirectory();
    const [metricsPort, port] = [await freePort(), await freePort()];
    await using server = await startServer(
      ...['--store', 'memory:', '--metrics-port', String(metricsPort)],
    );
    await makeTraffic(server);
    await cp(example, folder.path, { recursive: true });
    const config = join(folder.path, 'prometheus.yml');
    const text = (await readFile(config, 'utf8'))
      .replaceAll('15s', '1s')
      .replace('127.0.0.1:9464', `127.0.0.1:${metricsPort}`);
    await writeFile(config, text);
    const prometheus = start('prometheus', [
      ...[`--config.file=${config}`, `--storage.tsdb.path=${folder.path}/data`],
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const ended = outcomeOf(prometheus);
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
      return ((await response.json()) as { data: Answer }).data;
    };
    const valuesOf = async (expression: string) => {
      const given = expression
        .replaceAll('$job', 'rostrum')
        .replaceAll('$instance', '.*')
        .replaceAll('$__rate_interval', '10s');
      return (await ask(`query?query=${encodeURIComponent(given)}`)).result;
    };
    const isScraped = async () => {
      const [value] = await valuesOf('count_over_time(up{job="$job"}[1m])').catch(() => []);
      return Number(value?.value[1]) >= 3;
    };
    await until(isScraped, 'the server was read three times', 20_000);
    for (const { title, targets } of dashboard.panels) {
      for (const { expr } of targets)
        expect(await valuesOf(expr), `${title}: ${expr}`).not.to.be.empty;
    }
    const { groups } = await ask('rules');
    const found = groups.flatMap(({ rules }) => rules);
    expect(found).to.have.length(9);
    for (const rule of found) expect(rule).to.include({ health: 'ok', state: 'inactive' });
    prometheus.kill('SIGTERM');
    expect((await ended).code).to.equal(0);
  });
});
