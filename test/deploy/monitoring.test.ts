import { expect } from 'chai';
import { samplesOf } from '../adapters/metrics/support.ts';
import { freePort } from '../support/free-port.ts';
import { type Server, startServer } from '../support/server.ts';
import { alertExpressions, dashboard, makeTraffic } from './monitoring.ts';

/** The labels that Prometheus adds to each metric. */
const added = ['job', 'instance'];

describe('the dashboard and the alerts in deploy/', function () {
  this.timeout(30_000);
  let server: Server;
  /** The labels of each metric of a running server. */
  const labels = new Map<string, Set<string>>([['up', new Set(added)]]);
  before(async () => {
    const port = await freePort();
    server = await startServer('--store', 'memory:', '--metrics-port', String(port));
    await makeTraffic(server);
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    for (const sample of samplesOf(await response.text())) {
      const known = labels.get(sample.name) ?? new Set(added);
      for (const name of Object.keys(sample.labels)) known.add(name);
      labels.set(sample.name, known);
    }
  });
  after(() => server[Symbol.asyncDispose]());

  const targets = dashboard.panels.flatMap((panel) => panel.targets);
  const expressions = [
    ...[...alertExpressions(), ...targets.map(({ expr }) => expr)],
    ...dashboard.annotations.list.map(({ expr }) => expr),
    ...dashboard.templating.list.flatMap(({ query }) =>
      typeof query === 'string' ? [] : [query.query],
    ),
  ];

  /** Returns the metrics in an expression with their label matchers. */
  function selectorsOf(expression: string) {
    return [...expression.matchAll(/\b(\w+)(?:\{([^}]*)\})/g)].map(([, name = '', inner = '']) => {
      const matchers = [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)];
      return { name, matchers: matchers.map(([, label = '', value = '']) => ({ label, value })) };
    });
  }

  it('use only metrics and labels that exist', () => {
    expect(alertExpressions()).to.have.length(9);
    for (const expression of expressions) {
      const selectors = selectorsOf(expression);
      const named = expression.match(/\b(?:rostrum|process|nodejs)_\w+/g) ?? [];
      expect([...named, ...selectors.map(({ name }) => name)], expression).not.to.be.empty;
      for (const name of named) expect([...labels.keys()], expression).to.include(name);
      for (const { name, matchers } of selectors) {
        for (const { label } of matchers) {
          expect([...(labels.get(name) ?? [])], expression).to.include(label);
        }
      }
      const all = new Set(selectors.flatMap(({ name }) => [...(labels.get(name) ?? [])]));
      for (const [, list = ''] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
        for (const label of list.split(', ')) expect([...all], expression).to.include(label);
      }
    }
  });

  it('use only labels in legends that the expression preserves', () => {
    for (const { expr, legendFormat } of targets) {
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
        list.split(', '),
      );
      const isSum = /\b(?:sum|min|histogram_quantile)\b/.test(expr);
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      for (const label of shown) expect(isSum ? kept : added, expr).to.include(label);
    }
  });

  it('match only problem codes that exist', async () => {
    const codes = expressions.flatMap((expression) =>
      selectorsOf(expression).flatMap(({ matchers }) =>
        matchers.flatMap(({ label, value }) => (label === 'code' ? [value] : [])),
      ),
    );
    expect(codes).to.have.length(3);
    for (const code of codes) {
      expect((await fetch(`${server.address}/problems/${code}`)).status, code).to.equal(200);
    }
  });
});
