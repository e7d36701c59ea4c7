import type { Collection, MongoClient } from 'mongodb';
import type { Bounds, Sight, Term } from './call.ts';

/** Follows whether the driver sees a server that takes writes, and which one of a replica set. */
export class Sightings implements Sight {
  readonly #any: Collection<{ _id: string }>;
  #changes = 0;
  #blind = true;
  #primary = '';
  #term: Term = { isCaughtUp: true };
  #catchingUp: Promise<unknown> | undefined;

  constructor(client: MongoClient, database: string) {
    this.#any = client.db(database).collection('users');
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      const servers = [...newDescription.servers.values()];
      const sees = servers.some(({ type }) => writable.has(type));
      if (sees === this.#blind) {
        this.#blind = !sees;
        this.#changes += 1;
      }
      const primary = servers.find(({ type }) => type === 'RSPrimary');
      if (primary !== undefined) this.#follow(`${primary.address} ${primary.electionId}`);
    });
  }

  get blindSince(): number | undefined {
    return this.#blind ? this.#changes : undefined;
  }

  get term(): Term {
    return this.#term;
  }

  /**
   * A linearizable read waits until a majority has a write of this primary, and so all before it:
   * https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/
   */
  async catchUp(bounds: Bounds): Promise<void> {
    const term = this.#term;
    this.#catchingUp ??= this.#any
      .findOne({ _id: '' }, { readConcern: 'linearizable', projection: { _id: 1 }, ...bounds })
      .finally(() => {
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
