import { expect } from 'chai';
import fastify from 'fastify';
import { rostrumListener } from '../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';

describe('requests injected without a connection', () => {
  it('work with app.inject of Fastify, and a rejected body does not end the process', async () => {
    const forum = rostrumListener(createRostrum(createMemoryStore()), { prefix: '/forum' });
    const app = fastify();
    app.addHook('onRequest', (request, reply, done) => {
      forum(request.raw, reply.raw, () => done());
    });
    const inject = (payload: string, headers = {}) =>
      app.inject({
        ...{ method: 'POST', url: '/forum/users', payload },
        headers: { 'Content-Type': 'application/json', ...headers },
      });
    expect((await inject('{"name":"Ada"}')).statusCode).to.equal(201);
    expect(
      (await inject(JSON.stringify({ name: 'A', own: 'x'.repeat(100_000) }))).statusCode,
    ).to.equal(201);
    expect((await inject('{')).statusCode).to.equal(400);
    expect((await inject('x', { 'Content-Type': 'text/plain' })).statusCode).to.equal(415);
    expect((await inject('x'.repeat(2_000_000))).statusCode).to.equal(413);
    const page = await app.inject('/forum/users?limit=1');
    expect([page.statusCode, page.json().users.length]).to.deep.equal([200, 1]);
    // After 2 s, the adapter closes the connection of a rejected body. Without a connection, this once crashed.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await app.close();
  });
});
