import { expect } from 'chai';
import { endpointsFor } from '../../../src/adapters/http/endpoints/index.ts';
import { type Scope, scopes } from '../../../src/index.ts';
import { type McpServer, startMcp } from './support/mcp.ts';

/** The API operation that corresponds to each tool. */
const operations = {
  find_posts: 'listPosts',
  get_post: 'getPost',
  create_post: 'createPost',
  update_post: 'patchPost',
  delete_post: 'deletePost',
  find_users: 'listUsers',
  get_user: 'getUser',
  update_user: 'patchUser',
};

describe('the MCP tools of a caller', () => {
  let mcp: McpServer;
  before(async () => {
    mcp = await startMcp({ deletes: true });
  });
  after(() => mcp[Symbol.asyncDispose]());

  const endpoints = new Map(endpointsFor({}).map((endpoint) => [endpoint.operation, endpoint]));
  const given: readonly (readonly Scope[])[] = [[], ...scopes.map((scope) => [scope]), scopes];
  for (const own of given) {
    const what = own.length > 1 ? 'every scope' : (own[0] ?? 'no scope');
    it(`are those whose endpoints it can call, with ${what}`, async () => {
      const expected = Object.entries(operations).flatMap(([tool, operation]) => {
        const { scopes: accepted = [] } = endpoints.get(operation) ?? {};
        return accepted.some((scope) => own.includes(scope)) ? [tool] : [];
      });
      const client = await mcp.connect({ name: 'key:x', subject: 'x', scopes: own });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.have.members(expected);
      for (const name of Object.keys(operations)) {
        const args = { id: 'none', title: 'T', key: what, version: 1, changes: {} };
        const result = await client.call(name, args).catch((error: Error) => error.message);
        if (expected.includes(name)) expect(result, name).to.be.an('object');
        else expect(result, name).to.match(/not found/);
      }
    });
  }
});
