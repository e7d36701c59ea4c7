import type { Environment } from './read-options.ts';

type Run = (args: readonly string[], env: Environment) => Promise<void>;

/** A command beside serving, as data: the program and its help are made of it. */
export interface Command {
  /** What follows its name. */
  readonly usage: string;
  /** What it does, in a line. */
  readonly summary: string;
  /** What else there is to know of it. */
  readonly more: readonly string[];
  /** Loads it: only what a command needs has to be installed. */
  readonly load: () => Promise<Run>;
}

const overwrite = [
  'A target that holds records which are not to be copied is refused. With --overwrite they are',
  'removed. Interrupted at any time, the same command goes on from there; repeated, it does nothing.',
];

export const commands: Readonly<Record<string, Command>> = {
  copy: {
    usage: '--from URL --to URL [--overwrite]',
    summary: 'copies a store into another one',
    more: [
      'Users and posts go over as they are, with ids, versions and times; idempotency keys do not.',
      ...overwrite,
      'In the end both sides are read again and have to be equal.',
      'A server on either SQLite store has to be stopped for the time of the copy.',
    ],
    load: async () => (await import('./copy.ts')).copyCommand,
  },
  export: {
    usage: 'FILE [--store URL]',
    summary: 'writes a store into a file of JSON Lines',
    more: [
      'A record a line, users before posts, by id; the last line has their counts and a checksum.',
      'It is written to FILE.part first. Interrupted, the same command goes on from there.',
      'A server on an SQLite store has to be stopped meanwhile.',
    ],
    load: async () => (await import('./export.ts')).exportCommand,
  },
  import: {
    usage: 'FILE [--store URL] [--overwrite]',
    summary: 'loads an export into a store',
    more: [
      'The file is checked first, to its last line; nothing is loaded from one that is not well.',
      ...overwrite,
      'A server on an SQLite store has to be stopped meanwhile.',
    ],
    load: async () => (await import('./import.ts')).importCommand,
  },
  backup: {
    usage: 'FILE [--store sqlite:PATH]',
    summary: 'copies the file of an SQLite store, while its server goes on',
    more: [
      'FILE is an SQLite store with every record that was acknowledged before the backup began.',
      'It is written to FILE.part first.',
    ],
    load: async () => (await import('./backup.ts')).backupCommand,
  },
};

/** What `rostrum NAME --help` prints. */
export function commandHelp(name: string, { usage, summary, more }: Command): string {
  const first = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const store = usage.includes('--store')
    ? [
        '',
        'Without --store it is the store of STORE_URL, or the one that the server takes by itself.',
      ]
    : [];
  return [`Usage: rostrum ${name} ${usage}`, '', first, ...more, ...store, ''].join('\n');
}
