import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');

export interface Ended {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of the program, under way in a process of its own. */
export interface UnderWay {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly isOver: boolean;
}

export function start(...args: string[]): UnderWay {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code, ...said }));
  return {
    process: child,
    ended,
    get isOver() {
      return child.exitCode !== null || child.signalCode !== null;
    },
  };
}

export function rostrum(...args: string[]): Promise<Ended> {
  return start(...args).ended;
}
