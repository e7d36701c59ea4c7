/** What the driver knows of a server. */
interface SeenServer {
  readonly type: string;
  readonly address: string;
  /** Another one after each election. */
  readonly electionId: unknown;
}

/** The term of one primary of a replica set, from its election to the next. */
interface Term {
  /** Whether the primary knows that a majority has what those before it acknowledged. */
  isCaughtUp: boolean;
  /** Shared by all calls that wait for that. */
  catchingUp?: Promise<unknown> | undefined;
}

/** What a call needs to know of the servers behind it. */
export type Primary = Pick<PrimaryWatch, 'blindSince' | 'term' | 'catchUp'>;

/** Follows whether the driver sees a server that takes writes, and which one of a replica set. */
export class PrimaryWatch {
  readonly #catchUp: () => Promise<unknown>;
  #changes = 0;
  #blind = true;
  #primary: string | undefined;
  #term: Term = { isCaughtUp: true };

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
    // A client of one node of a set alone may read from a secondary, which never catches up.
    else if (servers.some(({ type }) => type === 'RSSecondary')) this.#follow('none');
  }

  /** Names the time without a server that takes writes; undefined while there is one in sight. */
  get blindSince(): number | undefined {
    return this.#blind ? this.#changes : undefined;
  }

  /** The present term: another object after each election. */
  get term(): Term {
    return this.#term;
  }

  /** Fulfilled when the primary of the present term is caught up. */
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
