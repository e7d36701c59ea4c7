import { execFile } from 'node:child_process';

/** Returns the standard output of a command. Kills the command and rejects if it takes too long. */
export function outputOf(
  command: string,
  args: readonly string[],
  { seconds, cwd }: { readonly seconds: number; readonly cwd?: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: seconds * 1000, killSignal: 'SIGKILL', cwd } as const;
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const late = error.killed === true ? `no end within ${seconds} s` : undefined;
      const last = stderr.trim().split('\n').at(-1);
      reject(new Error(late ?? (last || error.message), { cause: error }));
    });
  });
}
