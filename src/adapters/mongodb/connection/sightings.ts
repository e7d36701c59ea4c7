import type { MongoClient } from 'mongodb';
import type { Sight } from './call.ts';

/** Follows whether the driver sees a server that takes writes. */
export class Sightings implements Sight {
  #changes = 0;
  #blind = true;

  constructor(client: MongoClient) {
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      const sees = [...newDescription.servers.values()].some(({ type }) => writable.has(type));
      if (sees === !this.#blind) return;
      this.#blind = !sees;
      this.#changes += 1;
    });
  }

  get blindSince(): number | undefined {
    return this.#blind ? this.#changes : undefined;
  }
}

/** https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md#servertype */
const writable = new Set<string>(['RSPrimary', 'Standalone', 'Mongos', 'LoadBalancer']);
