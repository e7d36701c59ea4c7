import { expect } from 'chai';
import { startMcp } from './support/mcp.ts';

describe('agents that update the same post through MCP', () => {
  it('lose no updates', async function () {
    this.timeout(120_000);
    await using mcp = await startMcp();
    const { id } = (await mcp.rostrum.posts.create({ title: 'Shared', body: '' })).record;
    let mismatches = 0;

    async function append(mark: string): Promise<void> {
      const client = await mcp.connect();
      let { version, post } = (await client.call('get_post', { id })).content;
      for (;;) {
        const changes = { body: `${post.body}${mark};` };
        const { isError, content } = await client.call('update_post', { id, version, changes });
        if (!isError) return;
        expect(content.error.code).to.equal('version-mismatch');
        mismatches += 1;
        ({ version, post } = content);
      }
    }
    const marks = Array.from({ length: 50 }, (_, n) => `m${n}`);
    await Promise.all(marks.map(append));

    const { record, version } = await mcp.rostrum.posts.get(id);
    expect(record.body.split(';').slice(0, -1)).to.have.members(marks);
    expect(version).to.equal(51);
    expect(mismatches).to.be.greaterThan(0);
  });
});
