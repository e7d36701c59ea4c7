// 16 concurrent pages of records of 1 MiB, of the kind that takes the most memory when it is parsed.
// The process has to answer each with 200, and to live.
//
//   node --max-old-space-size=1024 test/faults/large-pages.ts memory:
//   node --max-old-space-size=1024 test/faults/large-pages.ts sqlite:/tmp/large.db
//   node --max-old-space-size=1024 test/faults/large-pages.ts mongodb://…

import { createApp, serve } from '../../src/adapters/http/index.ts';
import { openStore } from '../../src/adapters/open-store.ts';
import { createRostrum } from '../../src/index.ts';

const [url = 'memory:'] = process.argv.slice(2);
const [records, pages] = [40, 16];
/** About 1 MiB as JSON, and more than 20 MiB as objects. */
const own = Array.from({ length: 340_000 }, () => ({}));

const silent = { info() {}, warn() {}, error() {} };
const store = await openStore(url, silent);
const rostrum = createRostrum(store);
const server = await serve(createApp(rostrum, { ready: () => store.ready() }), { port: 0 });
try {
  for (let n = 0; n < records; n++) await rostrum.posts.create({ title: `${n}`, own });
  const seen = await Promise.all(
    Array.from({ length: pages }, async () => {
      const response = await fetch(`${server.url}/api/v1/posts?limit=20`);
      return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
    }),
  );
  const good = seen.filter(({ status, bytes }) => status === 200 && bytes > 1_000_000);
  const rss = Math.round(process.memoryUsage().rss / 1024 / 1024);
  console.log(`${url}: ${good.length} of ${pages} pages are whole; ${rss} MiB`);
  if (good.length < pages) process.exitCode = 1;
} finally {
  await server.close();
  await store.close();
}
