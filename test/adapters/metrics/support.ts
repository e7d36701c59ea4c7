/** One sample of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the text format of Prometheus. */
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

/** The names of all metrics, which have a line each even where they have no sample. */
export function namesOf(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
}
