/** What was measured, round by round. */
export type Series<T = number> = readonly T[];

/** Rounds to get warm, which do not count. */
const warming = 2;

/**
 * Gives each contestant a turn in every round, so that whatever else the machine does hits all of
 * them alike; every other round in the opposite order.
 */
export async function interleave<Name extends string, T>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<T>>>,
): Promise<Record<Name, Series<T>>> {
  const turns = Object.entries(contestants) as [Name, () => Promise<T>][];
  const series = Object.fromEntries(turns.map(([name]) => [name, []])) as unknown as Record<
    Name,
    T[]
  >;
  for (let round = 0; round < warming + rounds; round++) {
    for (const [name, measure] of round % 2 === 0 ? turns : turns.toReversed()) {
      const value = await measure();
      if (round >= warming) series[name].push(value);
    }
  }
  return series;
}

/** Round by round, how many times the second the first is. */
export function ratios(of: Series, to: Series): Series {
  return of.map((value, round) => value / (to[round] ?? Number.NaN));
}

export function median(series: Series): number {
  const sorted = series.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The median, with the least and the most in brackets. */
export function spread(series: Series, digits: number): string {
  const shown = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${shown(median(series))} (${shown(Math.min(...series))}–${shown(Math.max(...series))})`;
}
