import type { Sight, Term } from './call.ts';

/** What the driver knows of a server. */
interface SeenServer {
  readonly type: string;
  readonly address: string;
  /** Another one after each election. */
  readonly electionId: unknown;
}

interface SeenTerm extends Term {
  /** What all who wait for it wait for. */
  catchingUp?: Promise<unknown> | undefined;
}

/** Follows whether the driver sees a server that takes writes, and which one of a replica set. */
export class Sightings implements Sight {
  readonly #catchUp: () => Promise<unknown>;
  #changes = 0;
  #blind = true;
  #primary: string | undefined;
  #term: SeenTerm = { isCaughtUp: true };

  /** @param catchUp waits until the primary is caught up */
  constructor(catchUp: () => Promise<unknown>) {
    this.#catchUp = catchUp;
  }

  /** To be told of all servers, whenever something about one of them has changed. */
  see(servers: readonly SeenServer[]): void {
    const sees = servers.some(({ type }) => writable.has(type));
    if (sees === this.#blind) {
      this.#blind = !sees;
      this.#changes += 1;
    }
    const primary = servers.find(({ type }) => type === 'RSPrimary');
    if (primary !== undefined) this.#follow(`${primary.address} ${primary.electionId}`);
    // Who is connected to one node of a set alone, may read from a secondary: it never catches up.
    else if (servers.some(({ type }) => type === 'RSSecondary')) this.#follow('none');
  }

  get blindSince(): number | undefined {
    return this.#blind ? this.#changes : undefined;
  }

  get term(): Term {
    return this.#term;
  }

  async catchUp(): Promise<void> {
    const term = this.#term;
    term.catchingUp ??= this.#catchUp().finally(() => {
      term.catchingUp = undefined;
    });
    await term.catchingUp;
    term.isCaughtUp = true;
  }

  #follow(primary: string): void {
    if (primary === this.#primary) return;
    this.#primary = primary;
    this.#term = { isCaughtUp: false };
  }
}

/** https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md#servertype */
const writable = new Set<string>(['RSPrimary', 'Standalone', 'Mongos', 'LoadBalancer']);
