/** What the driver knows of a server. */
interface KnownServer {
  readonly type: string;
  readonly address: string;
  /** Differs after each election. */
  readonly electionId: unknown;
}

/** The time of one primary, from its election to the next. */
export class Term {
  readonly #confirm: () => Promise<unknown>;
  #confirmed: Promise<unknown> | undefined;

  /** @param confirm see {@link Primary} */
  constructor(confirm: () => Promise<unknown>) {
    this.#confirm = confirm;
  }

  /** Fulfilled when the primary has confirmed its term: asked once, and again after a failure. */
  confirmed(): Promise<unknown> {
    this.#confirmed ??= this.#confirm().catch((error) => {
      this.#confirmed = undefined;
      throw error;
    });
    return this.#confirmed;
  }
}

/** Follows which node of a replica set is the primary, as the driver sees it. */
export class Primary {
  readonly #confirm: () => Promise<unknown>;
  #name: string | undefined;
  #term = new Term(async () => {});

  /** @param confirm waits until a majority has what the primary, and those before it, acknowledged */
  constructor(confirm: () => Promise<unknown>) {
    this.#confirm = confirm;
  }

  /** The present term: another object after each election. Behind `mongos`, it stays the same. */
  get term(): Term {
    return this.#term;
  }

  /** Takes note of all servers, whenever the driver has learned something about one of them. */
  see(servers: readonly KnownServer[]): void {
    const primary = servers.find(({ type }) => type === 'RSPrimary');
    if (primary !== undefined) this.#follow(`${primary.address} ${primary.electionId}`);
    // With `directConnection` to a secondary the driver reads there, and no secondary ever confirms.
    else if (servers.some(({ type }) => type === 'RSSecondary')) this.#follow('none');
  }

  #follow(name: string): void {
    if (name === this.#name) return;
    this.#name = name;
    this.#term = new Term(this.#confirm);
  }
}
