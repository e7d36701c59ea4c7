/** The values of a figure in each turn. */
export type Series = readonly number[];

/** A series of values for each figure of a server. */
export type Columns<Figure extends string> = Readonly<Record<Figure, Series>>;

/** Returns the servers of a round in their order. */
export function inTurn<Name>(contestants: readonly Name[], round: number): readonly Name[] {
  return round % 2 === 0 ? contestants : contestants.toReversed();
}

/** Collects the figures of all servers. */
export class Figures<Name extends string, Figure extends string> {
  readonly #rounds: { readonly name: Name; readonly figures: Readonly<Record<Figure, number>> }[] =
    [];

  add(name: Name, figures: Readonly<Record<Figure, number>>): void {
    this.#rounds.push({ name, figures });
  }

  columns(): Record<Name, Columns<Figure>> {
    const all = Map.groupBy(this.#rounds, ({ name }) => name);
    const columns = Array.from(all, ([name, rounds]) => {
      const figures = Object.keys(rounds[0]?.figures ?? {}) as Figure[];
      const series = figures.map((figure) => [figure, rounds.map((one) => one.figures[figure])]);
      return [name, Object.fromEntries(series)];
    });
    return Object.fromEntries(columns) as Record<Name, Columns<Figure>>;
  }
}

/** Divides the first series by the second. */
export function ratios(of: Series, to: Series): Series {
  return of.map((value, round) => value / (to[round] ?? Number.NaN));
}

export function median(series: Series): number {
  const sorted = series.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

export function decimal(value: number, digits: number): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString('en', options);
}

/** Formats the median, with minimum and maximum in brackets if there are several values. */
export function spread(series: Series, digits: number): string {
  if (series.length === 1) return decimal(median(series), digits);
  const three = [median(series), Math.min(...series), Math.max(...series)];
  const [middle, least, most] = three.map((value) => decimal(value, digits));
  return `${middle} (${least}–${most})`;
}
