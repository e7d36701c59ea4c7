import type { MongoClient } from 'mongodb';
import type { Sight, Term } from './call.ts';

/** Follows whether the driver sees a server that takes writes, and which one of a replica set. */
export class Sightings implements Sight {
  readonly #catchUp: () => Promise<unknown>;
  #changes = 0;
  #blind = true;
  #primary: string | undefined;
  #term: Term = { isCaughtUp: true };
  #catchingUp: Promise<unknown> | undefined;

  /** @param catchUp waits until the primary is caught up */
  constructor(client: MongoClient, catchUp: () => Promise<unknown>) {
    this.#catchUp = catchUp;
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      const servers = [...newDescription.servers.values()];
      const sees = servers.some(({ type }) => writable.has(type));
      if (sees === this.#blind) {
        this.#blind = !sees;
        this.#changes += 1;
      }
      const primary = servers.find(({ type }) => type === 'RSPrimary');
      if (primary !== undefined) this.#follow(`${primary.address} ${primary.electionId}`);
      // Who is connected to one node of a set alone, may read from a secondary: it never catches up.
      else if (servers.some(({ type }) => type === 'RSSecondary')) this.#follow('none');
    });
  }

  get blindSince(): number | undefined {
    return this.#blind ? this.#changes : undefined;
  }

  get term(): Term {
    return this.#term;
  }

  async catchUp(): Promise<void> {
    const term = this.#term;
    // One for all who wait.
    this.#catchingUp ??= this.#catchUp().finally(() => {
      if (this.#term === term) this.#catchingUp = undefined;
    });
    await this.#catchingUp;
    term.isCaughtUp = true;
  }

  #follow(primary: string): void {
    if (primary === this.#primary) return;
    this.#primary = primary;
    this.#term = { isCaughtUp: false };
    this.#catchingUp = undefined;
  }
}

/** https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md#servertype */
const writable = new Set<string>(['RSPrimary', 'Standalone', 'Mongos', 'LoadBalancer']);
