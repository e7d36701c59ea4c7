import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/** Extended result codes of SQLite. */
export const codes = { busy: 5, corrupt: 11, full: 13, read: 266, fsync: 1034 } as const;

/** Called instead of each driver call; `run` makes that call. Statements run with `exec` are not steps. */
export type Step = (sql: string, run: () => unknown, exec: (sql: string) => void) => unknown;

/** Returns a driver in which a test can observe each call or make it fail. */
export function stepped(step: Step): (path: string) => DatabaseSync {
  return (path) => new SteppedDatabase(path, step);
}

/** Returns a driver that passes each SQL statement to `watch`, which can throw, before running it. */
export function watched(watch: (sql: string, exec: (sql: string) => void) => void) {
  return stepped((sql, run, exec) => {
    if (!sql.startsWith('PREPARE')) watch(sql, exec);
    return run();
  });
}

class SteppedDatabase extends DatabaseSync {
  readonly #step: Step;

  constructor(path: string, step: Step) {
    super(path);
    this.#step = step;
  }

  override exec(sql: string): void {
    const exec = (one: string) => super.exec(one);
    this.#step(sql, () => exec(sql), exec);
  }

  override prepare(sql: string): StatementSync {
    const exec = (one: string) => super.exec(one);
    const prepare = () => super.prepare(sql);
    const statement = this.#step(`PREPARE ${sql}`, prepare, exec) as StatementSync;
    for (const name of ['run', 'get', 'all', 'iterate'] as const) {
      const call: (...values: SQLInputValue[]) => unknown = statement[name].bind(statement);
      const step = (...values: SQLInputValue[]) => this.#step(sql, () => call(...values), exec);
      Object.assign(statement, { [name]: step });
    }
    return statement;
  }
}

/** Returns an error like those of `node:sqlite`. */
export function driverFault(errcode: number): Error {
  return Object.assign(new Error('planted'), { code: 'ERR_SQLITE_ERROR', errcode });
}
