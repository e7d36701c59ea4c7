import { temporaryDirectory } from '../../support/repository-copy.ts';
import { fuzz } from './fuzz.ts';
import { serveFiles } from './site.ts';

describe('rostrum import, with random changes in files', () => {
  it('loses nothing in silence in 20,000 sites', async () => {
    process.env.TIME_ZONE = 'UTC';
    await using folder = await temporaryDirectory();
    await using server = await serveFiles();
    await fuzz(20_000, folder.path, server);
  });
});
