/** One sample in the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses the Prometheus text format. */
export function samplesOf(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', inner = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const labels = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, of]) => [
        key,
        of,
      ]);
      return { name, labels: Object.fromEntries(labels), value: Number(value) };
    });
}

/** Returns the names of all metrics, including those without samples. */
export function namesOf(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
}
