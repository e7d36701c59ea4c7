import type { SingleBar } from 'cli-progress';

/** Shows how far a long run has come. */
export interface Progress {
  /** Begins a part of the run. The total of its steps is an estimate. */
  begin(what: string, total: number): void;
  advance(steps: number): void;
  /** Ends the part. */
  end(): void;
  /** Ends what is shown, in the middle of a part too. */
  stop(): void;
}

/** The time between two lines, in milliseconds. */
const lineMs = 2000;

/**
 * Shows a bar on a terminal, otherwise a line every two seconds and at the end of each part. It
 * goes to standard error, because standard output is for the result.
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
    // cli-progress is an optional peer.
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
