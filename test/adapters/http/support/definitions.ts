import { expect } from 'chai';
import type { Endpoint } from '../../../../src/adapters/http/endpoint.ts';
import { commonProblems, endpoints } from '../../../../src/adapters/http/endpoints/table.ts';
import type { ProblemCode } from '../../../../src/adapters/http/problems/catalogue.ts';
import type { Answer } from './answer.ts';
import { DescriptionUnderTest, documentOf } from './description.ts';

/** Headers that an answer has only where its definition says so. */
const declared = [
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'X-Total-Count',
];

const description = new DescriptionUnderTest(documentOf());

function endpointAt(method: string, url: string): Endpoint | undefined {
  const [, path] = /^\/api\/v1(\/.*)$/.exec(new URL(url).pathname) ?? [];
  if (path === undefined) return undefined;
  const pattern = path.replace(/^(\/[a-z]+)\/[^/]+$/, '$1/:id');
  const served = method === 'HEAD' ? 'GET' : method;
  return endpoints.find((one) => one.method === served && one.path === pattern);
}

/** Holds an answer to what its endpoint is defined to answer. Other paths are nobody's. */
export function expectAsDefined(method: string, url: string, answer: Answer): void {
  const endpoint = endpointAt(method, url);
  if (endpoint === undefined) return;
  const { status, headers, text, body } = answer;
  const what = `${method} ${new URL(url).pathname}: ${status} ${text.slice(0, 200)}`;
  if (status >= 400) {
    const codes: readonly ProblemCode[] = [...commonProblems, ...endpoint.problems];
    if (method !== 'HEAD') expect(codes, what).to.include(body.code);
    return;
  }
  const definition = endpoint.responses[status];
  expect(Object.keys(endpoint.responses), what).to.include(String(status));
  const has = declared.filter((name) => headers.has(name));
  expect(definition?.headers ?? [], what).to.include.members(has);
  const bodyless = method === 'HEAD' || headers.get('preference-applied') === 'return=minimal';
  if (definition?.schema === undefined || bodyless) expect(text, what).to.equal('');
  else expect(description.complaintsOf(definition.schema, body), what).to.equal('No errors');
}
