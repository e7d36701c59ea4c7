import { expect } from 'chai';
import { contractCodes } from '../support/contract-codes.ts';
import type { RawResponse } from './connection.ts';
import type { RawRequest } from './requests.ts';

const problemMembers = ['type', 'title', 'status', 'code', 'error', 'detail', 'requestId'];

/** Expects a response to match the contract. */
export function checkAnswer({ method, path }: RawRequest, answer: RawResponse): void {
  const { status, headers, body } = answer;
  if (isFromNode(answer)) return;
  expect(headers.get('x-request-id')).to.match(/^[\w.-]{1,128}$/);
  if (method === 'HEAD') {
    expect(body).to.equal('');
    return;
  }
  if (path === '/mcp' && !headers.get('content-type')?.startsWith('application/problem')) {
    // What the protocol's own package answers. -32603 and the code "internal" are unexpected errors.
    expect(status).to.be.below(500);
    expect(body).not.to.match(/-32603|"internal/);
  } else if (status >= 400) {
    checkProblem(answer);
  } else if (status === 204 || status === 304) {
    expect(body).to.equal('');
  } else if (headers.get('preference-applied') === 'return=minimal') {
    expect([status, body]).to.deep.equal([201, '']);
  } else if (status === 302) {
    // Browsers are redirected to the section of a problem.
    expect([method, path]).to.deep.equal(['GET', '/problems/email-taken']);
  } else {
    expect([200, 201]).to.include(status);
    if (path.startsWith('/api/v1/')) checkSuccess(method, path, answer);
  }
}

/** True for what Node's parser accepts and its server rejects: HTTP/1.1 without Host, and an unknown `Expect`. */
function isFromNode({ status, headers, body }: RawResponse): boolean {
  return [400, 417].includes(status) && body === '' && !headers.has('x-request-id');
}

function checkProblem({ status, headers, body }: RawResponse): void {
  expect(status, body).to.be.below(500);
  expect(headers.get('content-type')).to.equal('application/problem+json');
  expect(headers.get('cache-control')).to.equal('no-store');
  const problem = JSON.parse(body);
  expect(problem).to.include.all.keys(problemMembers);
  expect(problem.status).to.equal(status);
  const codes: Readonly<Record<number, readonly string[]>> = contractCodes;
  expect(codes[status] ?? [], `${status}`).to.include(problem.code);
  expect(problem.type).to.equal(`/problems/${problem.code}`);
  expect(problem.requestId).to.equal(headers.get('x-request-id'));
  expect(problem.error).to.be.a('string').and.to.equal(problem.detail);
  for (const entry of problem.errors ?? []) {
    expect(entry.code).to.be.a('string');
    expect(entry.message).to.be.a('string');
    expect(Object.keys(entry).filter((key) => /^(pointer|parameter|header)$/.test(key))).length(1);
  }
}

function checkSuccess(method: string, path: string, { status, headers, body }: RawResponse): void {
  const value = JSON.parse(body);
  const [, , , kind = '', id] = decodeURI(path.split('?')[0] ?? '').split('/');
  if (method === 'DELETE') {
    expect(value).to.deep.equal({ deleted: true });
  } else if (method === 'GET' && id === undefined) {
    expect(value[kind]).to.be.an('array');
    expect(value).to.have.property('next');
  } else {
    expect(status).to.equal(method === 'POST' ? 201 : 200);
    expect(headers.get('etag')).to.match(/^"\d+"$/);
    expect(value).to.include.all.keys(['id', 'createdAt', 'updatedAt']);
  }
}
