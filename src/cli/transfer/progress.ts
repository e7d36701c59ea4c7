import type { SingleBar } from 'cli-progress';

/** Tells a person how far a long work has come. */
export interface Progress {
  /** A part of the work begins: so many steps, as far as is known. */
  begin(what: string, total: number): void;
  advance(steps: number): void;
  /** The part is done. */
  end(): void;
  /** No more is told, whatever is under way. */
  stop(): void;
}

/** Between two lines, where there is no terminal. */
const lineMs = 2000;

/**
 * A bar on a terminal, otherwise a line every few seconds and one at the end of each part. On
 * standard error: standard output is for the result.
 */
export async function createProgress(
  stream: NodeJS.WriteStream = process.stderr,
): Promise<Progress> {
  if (!stream.isTTY) return new Lines((line) => stream.write(`${line}\n`));
  try {
    const { SingleBar, Presets } = await import('cli-progress');
    const format = '{what} {bar} {percentage} % | {value} of {total} | {eta_formatted} left';
    const options = { stream, format, hideCursor: true, fps: 5 };
    return new Bar(() => new SingleBar(options, Presets.shades_classic));
  } catch {
    // An optional peer: without it there are lines.
    return new Lines((line) => stream.write(`${line}\n`));
  }
}

class Bar implements Progress {
  readonly #make: () => SingleBar;
  #bar: SingleBar | undefined;

  constructor(make: () => SingleBar) {
    this.#make = make;
  }

  begin(what: string, total: number): void {
    this.stop();
    this.#bar = this.#make();
    this.#bar.start(total, 0, { what: what.padEnd(20) });
  }

  advance(steps: number): void {
    this.#bar?.increment(steps);
  }

  end(): void {
    this.stop();
  }

  stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

class Lines implements Progress {
  readonly #write: (line: string) => void;
  #what = '';
  #done = 0;
  #total = 0;
  #written = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  begin(what: string, total: number): void {
    this.#what = what;
    this.#done = 0;
    this.#total = total;
    this.#written = Date.now();
  }

  advance(steps: number): void {
    this.#done += steps;
    if (Date.now() - this.#written >= lineMs) this.#line();
  }

  end(): void {
    this.#line();
  }

  stop(): void {}

  #line(): void {
    this.#written = Date.now();
    this.#write(`${this.#what}: ${this.#done} of ${Math.max(this.#total, this.#done)}`);
  }
}
