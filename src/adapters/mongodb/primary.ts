/** What the driver knows about a server. */
interface KnownServer {
  readonly type: string;
  readonly address: string;
  /** Differs after each election. */
  readonly electionId: unknown;
}

/** Tracks the primary of the replica set and its term, which begins with an election. */
export class Primary {
  readonly #confirm: () => Promise<unknown>;
  #term: string | undefined;
  /** Waits until the primary has confirmed its term. Each term has its own function, which asks once. */
  confirmTerm: () => Promise<unknown> = async () => {};

  #nextRead: PromiseWithResolvers<true> | undefined;

  /** @param confirm waits until a majority has everything that the primary has */
  constructor(confirm: () => Promise<unknown>) {
    this.#confirm = confirm;
  }

  /** Fulfilled when any call has read from the primary. */
  get nextRead(): Promise<true> {
    this.#nextRead ??= Promise.withResolvers();
    return this.#nextRead.promise;
  }

  /** Called after each read. */
  reportRead(): void {
    this.#nextRead?.resolve(true);
    this.#nextRead = undefined;
  }

  /** Called with all servers when the driver learns something new about one of them. */
  update(servers: readonly KnownServer[]): void {
    const primary = servers.find(({ type }) => type === 'RSPrimary');
    // With `directConnection` to a secondary, the driver reads there, and a secondary never confirms. During an
    // election this only repeats reads in progress.
    const hasOnlySecondaries = !primary && servers.some(({ type }) => type === 'RSSecondary');
    const term = hasOnlySecondaries
      ? 'no primary'
      : primary && `${primary.address} ${primary.electionId}`;
    if (term === undefined || term === this.#term) return;
    this.#term = term;
    let confirming: Promise<unknown> | undefined;
    this.confirmTerm = () => {
      confirming ??= this.#confirm().catch((error) => {
        confirming = undefined;
        throw error;
      });
      return confirming;
    };
  }
}
