import type * as Library from 'cli-progress';

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
const lineMs = 10_000;

/**
 * Shows a bar on a terminal, otherwise a line every ten seconds, and at the end of a part that took as
 * long. It goes to standard error, because standard output is for the result.
 */
export async function createProgress(
  stream: NodeJS.WriteStream = process.stderr,
): Promise<Progress> {
  // cli-progress is an optional peer.
  const library = stream.isTTY ? await import('cli-progress').catch(() => undefined) : undefined;
  return library === undefined ? lines(stream) : bars(library, stream);
}

function bars({ SingleBar, Presets }: typeof Library, stream: NodeJS.WriteStream): Progress {
  const format = '{what} {bar} {percentage} % | {value} of {total} | {eta_formatted} left';
  // What is done leaves no bar: the result says more.
  const options = { stream, format, formatTime, hideCursor: true, fps: 5, clearOnComplete: true };
  const newBar = () => new SingleBar(options, Presets.shades_classic);
  let bar = newBar();
  return {
    begin(what, total) {
      bar.stop();
      bar = newBar();
      bar.start(total, 0, { what: what.padEnd(22) });
    },
    advance: (steps) => bar.increment(steps),
    end: () => bar.stop(),
    stop: () => bar.stop(),
  };
}

/** Minutes and seconds. The library has texts in place of a number while it cannot tell. */
function formatTime(seconds: unknown): string {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return '--:--';
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

function lines(stream: NodeJS.WriteStream): Progress {
  let part = { what: '', total: 0, done: 0, writtenAt: 0, isShown: false };
  const write = () => {
    [part.writtenAt, part.isShown] = [Date.now(), true];
    stream.write(`${part.what}: ${part.done} of ${Math.max(part.total, part.done)}\n`);
  };
  return {
    begin(what, total) {
      part = { what, total, done: 0, writtenAt: Date.now(), isShown: false };
    },
    advance(steps) {
      part.done += steps;
      if (Date.now() - part.writtenAt >= lineMs) write();
    },
    end() {
      if (part.isShown) write();
    },
    stop() {},
  };
}
