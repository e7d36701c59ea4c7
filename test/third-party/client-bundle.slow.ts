import { createContext, Script } from 'node:vm';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { createClient } from '../../packages/rostrum-client/src/index.ts';
import { startApi } from '../../packages/rostrum-client/test/support/api.ts';
import { freePort } from '../support/free-port.ts';

/** The globals that the client needs, which browsers, workers and Node all have. */
const platform = {
  AbortSignal,
  Headers,
  URLSearchParams,
  crypto,
  fetch,
  setTimeout,
  clearTimeout,
};

async function bundle(entry: string): Promise<{ text: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [`${import.meta.dirname}/../../packages/rostrum-client/src/${entry}.ts`],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'iife',
    globalName: 'rostrum',
    platform: 'browser',
    target: 'es2022',
  });
  return { text: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
}

describe('the client in a bundle', () => {
  it('is small and contains only its own files', async () => {
    for (const entry of ['index', 'react-admin', 'refine']) {
      const { text, inputs } = await bundle(entry);
      expect(text.length, entry).to.be.below(9.5 * 1024);
      for (const input of inputs) expect(input).to.match(/^packages\/rostrum-client\/src\//);
    }
  });

  it('mentions CORS if a request to another origin fails', async () => {
    const { text } = await bundle('index');
    const failure = async (page: string, url: string) => {
      const location = new URL(page);
      const context = createContext({ ...platform, location });
      new Script(`${text};this.rostrum=rostrum`).runInContext(context);
      const library: { createClient: typeof createClient } = context.rostrum;
      const client = library.createClient({ url, retry: { tries: 1 } });
      return client.users.list().catch((error: Error) => error.message);
    };
    const closed = `http://127.0.0.1:${await freePort()}`;
    expect(await failure('http://localhost:5173/', `${closed}/api/v1`)).to.equal(
      'No response. If this page is served from another origin, does the server allow it (--cors)?',
    );
    expect(await failure(`${closed}/page`, `${closed}/api/v1`)).to.equal(
      'No response arrived from the server.',
    );
  });

  it('runs without Node', async () => {
    await using api = await startApi();
    const { text } = await bundle('index');
    const context = createContext({ ...platform });
    new Script(`${text};this.rostrum=rostrum`).runInContext(context);
    const library: { createClient: typeof createClient } = context.rostrum;
    const client = library.createClient({ url: api.url });
    const { record } = await client.users.create({ name: 'Ada' });
    const updated = await client.users.update(record.id, (user) => ({ ...user, born: 1815 }));
    expect(updated).to.deep.include({ version: 2 });
    const users = [];
    for await (const user of client.users.all()) users.push(user.name);
    expect(users).to.deep.equal(['Ada']);
    await client.users.delete(record.id);
  });
});
