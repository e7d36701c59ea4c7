/** What the driver knows of a server. */
interface KnownServer {
  readonly type: string;
  readonly address: string;
  /** Differs after each election. */
  readonly electionId: unknown;
}

/** The time of one primary, from its election to the next. */
class Term {
  readonly #confirm: () => Promise<unknown>;
  #confirmed: Promise<unknown> | undefined;

  constructor(confirm: () => Promise<unknown>) {
    this.#confirm = confirm;
  }

  /** Waits for the primary's confirmation: asked once, and again after a failure. */
  confirmed(): Promise<unknown> {
    this.#confirmed ??= this.#confirm().catch((error) => {
      this.#confirmed = undefined;
      throw error;
    });
    return this.#confirmed;
  }
}

/** Follows which node of a replica set is the primary. */
export class Primary {
  readonly #confirm: () => Promise<unknown>;
  #name: string | undefined;
  /** Another object after each election. Behind `mongos`, it stays the same. */
  term = new Term(async () => {});

  /** @param confirm waits until a majority has everything that this primary has */
  constructor(confirm: () => Promise<unknown>) {
    this.#confirm = confirm;
  }

  /** Takes note of all servers whenever the driver has learned something about one of them. */
  see(servers: readonly KnownServer[]): void {
    const primary = servers.find(({ type }) => type === 'RSPrimary');
    // With `directConnection` to a secondary the driver reads there, and no secondary ever confirms.
    const isSecondary = !primary && servers.some(({ type }) => type === 'RSSecondary');
    const name = isSecondary ? 'none' : primary && `${primary.address} ${primary.electionId}`;
    if (name === undefined || name === this.#name) return;
    this.#name = name;
    this.term = new Term(this.#confirm);
  }
}
