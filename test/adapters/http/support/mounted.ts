import { expect } from 'chai';
import { type Calls, expectProblem } from './api.ts';

/** Expects every path in a response to be the path that the client sees. */
export async function expectAt(base: string, calls: Calls): Promise<void> {
  const made = await calls.post(`${base}/users`, { name: 'Ann' });
  expect(made.headers.get('location')).to.equal(`${base}/users/${made.body.id}`);
  await calls.make(`${base}/users`, { name: 'Bea' });
  const page = await calls.get(`${base}/users?limit=1`);
  const link = /^<(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  expect(link.startsWith(`${base}/users?`), link).to.equal(true);
  expect((await calls.get(link)).body.users).to.have.lengthOf(1);
  const missing = await calls.get(`${base}/users/x`);
  const { type } = expectProblem(missing, 404, 'user-not-found', base);
  expect((await calls.get(String(type))).body.code).to.equal('user-not-found');
  expectProblem(await calls.get(`${base}/nothing`), 404, 'path-not-found', base);
  expectProblem(await calls.get(`${base}/users/%ZZ`), 400, 'invalid-path', base);
}
