import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Answer, Api } from '../adapters/http/support/api.ts';

export type Kind = 'users' | 'posts';

/** A POST under a key of its own, as often as it takes. */
export class Creation {
  readonly #kind: Kind;
  readonly #name = `one of a kind ${randomUUID()}`;
  readonly #key = randomUUID();
  readonly #body: object;

  /** @param author who a post is by */
  constructor(kind: Kind, author: string) {
    this.#kind = kind;
    this.#body =
      kind === 'users'
        ? { name: this.#name, email: `${this.#key}@example.org` }
        : { title: this.#name, authorId: author };
  }

  post(api: Api): Promise<Answer> {
    return api.post(`/${this.#kind}`, this.#body, { 'Idempotency-Key': this.#key });
  }

  /** The request as text, for a connection that may not live to see its end. */
  get text(): string {
    const body = JSON.stringify(this.#body);
    const headers = [
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `Idempotency-Key: ${this.#key}`,
    ];
    return [`POST /api/v1/${this.#kind} HTTP/1.1`, ...headers, '', body].join('\r\n');
  }

  /** As a client does who has to know that it is made. */
  async retry(api: Api): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.post(api);
      if (answer.status === 201) return answer;
      expect([answer.status, answer.body.code], answer.text).to.deep.equal(unavailable);
      if (attempt === 50) throw new Error('It is unavailable and stays so.');
      await sleep(20);
    }
  }

  /** The one record is there, and it is the one that an answer showed. */
  async expectOne(api: Api, made: Answer): Promise<void> {
    const field = this.#kind === 'users' ? 'name' : 'title';
    const query = new URLSearchParams({ [field]: this.#name, count: 'exact' });
    const { body } = await api.get(`/${this.#kind}?${query}`);
    expect(body.total, this.#name).to.equal(1);
    expect(body[this.#kind]).to.deep.equal([made.body]);
  }
}

/** The answer that leaves a client in doubt. */
export const unavailable = [503, 'store-unavailable'] as const;

/** The answer of a repeat, which made nothing. */
export function expectReplayed(repeat: Answer, first: Answer): void {
  expect([repeat.status, repeat.body]).to.deep.equal([201, first.body]);
  expect(repeat.headers.get('idempotency-replayed')).to.equal('true');
}
