import { spawn } from 'node:child_process';

export interface Outcome {
  readonly code: number | null;
  /** What it wrote to stdout and stderr, in the order in which it came. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command to its end. A code other than 0 is an answer and not an error. */
function run(command: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let output = '';
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** Runs a script under the Node that runs the tests. */
export function node(args: readonly string[], options: RunOptions): Promise<Outcome> {
  return run(process.execPath, args, options);
}

/** The npm that runs the tests, under their Node; the one on the path otherwise. */
export function npm(args: readonly string[], options: RunOptions): Promise<Outcome> {
  const cli = process.env.npm_execpath;
  // As talkative as it is by itself, also where `npm --silent` runs the tests.
  const talking = { ...options, env: { npm_config_loglevel: 'notice', ...options.env } };
  return cli?.endsWith('.js') ? node([cli, ...args], talking) : run('npm', args, talking);
}
