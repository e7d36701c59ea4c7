import { join } from 'node:path';
import { useOne } from '@refinedev/core';
import { expect } from 'chai';
import { useGetOne } from 'ra-core';
import { createClient, type RecordOf } from '../../packages/rostrum-client/src/index.ts';
import { node } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';

// The parts of the repository that `npm run check` can't compile, because their packages are installed only for
// the slow tests.

const typed = createClient<{ posts: { slug: 'text' } }>({ url: 'http://127.0.0.1:1/api/v1' });
type Post = RecordOf<typeof typed.posts>;

/** Compiled, and never called. */
export const hooks = {
  reactAdmin: () => useGetOne<Post>('posts', { id: 'p' }).data?.slug?.length,
  refine: () => useOne<Post>({ resource: 'posts', id: 'p' }).result?.slug?.length,
};

describe('the slow tests and the examples', function () {
  this.timeout(120_000);

  it('compile', async () => {
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
    const args = [tsc, '--build', '--pretty', 'false', import.meta.dirname];
    const { code, output } = await node(args, { cwd: repository });
    expect(code, output).to.equal(0);
  });
});
