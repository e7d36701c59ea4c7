import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Answer } from '../adapters/http/support/answer.ts';
import type { Api } from '../adapters/http/support/api.ts';

export const resources = ['users', 'posts'] as const;
export type Resource = (typeof resources)[number];

/** A POST with its own idempotency key, which can be sent repeatedly. */
export class Creation {
  readonly #resource: Resource;
  readonly #key = randomUUID();
  readonly #body: object;

  /** @param authorId the author of a post */
  constructor(resource: Resource, authorId: string) {
    this.#resource = resource;
    this.#body =
      resource === 'users'
        ? { name: this.#key, email: `${this.#key}@example.org` }
        : { title: this.#key, authorId };
  }

  post(api: Api): Promise<Answer> {
    return api.post(`/${this.#resource}`, this.#body, { 'Idempotency-Key': this.#key });
  }

  /** The request as text, to send it partially. */
  get text(): string {
    const body = JSON.stringify(this.#body);
    const headers = [
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `Idempotency-Key: ${this.#key}`,
    ];
    return [`POST /api/v1/${this.#resource} HTTP/1.1`, ...headers, '', body].join('\r\n');
  }

  /** Retries the request until it is acknowledged. */
  async retry(api: Api): Promise<Answer> {
    for (let attempt = 1; attempt <= 50; attempt++) {
      const response = await this.post(api);
      if (response.status === 201) return response;
      expectUnavailable(response);
      await sleep(20);
    }
    throw new Error('The store stays unavailable.');
  }

  /** Expects that exactly one record exists, as in this response, and that a retry returns it. */
  async expectOne(api: Api, made: Answer): Promise<void> {
    const field = this.#resource === 'users' ? 'name' : 'title';
    const { body } = await api.get(`/${this.#resource}?${field}=${this.#key}&count=exact`);
    expect([body.total, body[this.#resource]]).to.deep.equal([1, [made.body]]);
    expectReplayed(await this.post(api), made);
  }
}

/** Expects a 503 that requires a retry. */
export function expectUnavailable({ status, body, text }: Answer, step = 'a retry'): void {
  expect([status, body.code], `${step}: ${text}`).to.deep.equal([503, 'store-unavailable']);
}

/** Expects a replayed response. */
export function expectReplayed(repeat: Answer, first: Answer): void {
  expect([repeat.status, repeat.body]).to.deep.equal([201, first.body]);
  expect(repeat.headers.get('idempotency-replayed')).to.equal('true');
}
