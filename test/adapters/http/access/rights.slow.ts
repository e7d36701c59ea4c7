import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { createRostrum, type Scope, type Store, scopes } from '../../../../src/index.ts';
import { describeOnStores, type OpenStore, type StoreName } from '../../../support/stores.ts';
import type { Answer } from '../support/answer.ts';
import { type Api, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { type Right, rights, rightsTable, setsOf } from './rights.ts';

const document = new URL('../../../../docs/security.md', import.meta.url);

const alone: readonly (readonly Scope[])[] = [[], ...scopes.map((scope) => [scope])];

/** Every pair of scopes. Only tested on the memory store: the core, not the store, checks scopes. */
const everyTwo = scopes.flatMap((a, i) => scopes.slice(i + 1).map((b) => [a, b]));

/** The pairs that the table mentions. */
const named = rights
  .flatMap(({ done, public: shown, hidden }) => [done, shown, hidden].flatMap(setsOf))
  .filter((set) => set.length > 1);

/**
 * The callers: one with a user, one without, and anonymous ones on a server with and without an `authenticate`
 * option.
 */
const kinds = ['user', 'client', 'anonymous beside credentials', 'anonymous alone'] as const;
type Kind = (typeof kinds)[number];

/** A response, the id of the record that was requested, and the id of another user. */
interface Trial {
  readonly answer: Answer;
  readonly id: string;
  readonly other: string;
}

type Outcome = 'done' | 'public' | 'hidden' | 'refused';

/** Returns the outcome according to the table. */
function expected(right: Right, kind: Kind, given: readonly Scope[]): Outcome {
  const isNobody = right.owner === 'me' && kind !== 'user';
  if (isNobody) return 'refused';
  for (const outcome of ['done', 'public', 'hidden'] as const) {
    const isEnough = setsOf(right[outcome]).some((set) => set.every((one) => given.includes(one)));
    if (isEnough) return outcome;
  }
  return 'refused';
}

/** Tests every cell of the table on one store. */
function itHolds(open: OpenStore, name: StoreName): void {
  const sets = [...alone, ...(name === 'memory' ? everyTwo : named)];
  let store: Store;
  let core: ReturnType<typeof createRostrum>;
  let withTokens: Api;
  const apis = new Map<string, Promise<Api>>();

  before(async function start() {
    this.timeout(60_000);
    store = await open();
    await store.ready();
    core = createRostrum(store);
    withTokens = await startApi({ store, app: { authenticate } });
  });
  after(async () => {
    for (const api of [...apis.values()]) await (await api).server.close();
    await withTokens[Symbol.asyncDispose]();
  });

  /** Returns a server that grants these scopes to anonymous clients. */
  function openTo(kind: Kind, anonymous: readonly Scope[]): Promise<Api> {
    const key = `${kind} ${anonymous}`;
    const known = apis.get(key);
    const api =
      known ??
      startApi({
        store,
        app: { anonymous, ...(kind === 'anonymous beside credentials' && { authenticate }) },
      });
    apis.set(key, api);
    return api;
  }

  async function makeUser(called: string): Promise<string> {
    const input = { name: called, email: `${called}@x.org` };
    return (await core.users.create(input)).record.id;
  }

  let count = 0;

  /** Sends a valid request for a record created for it. */
  async function trial(right: Right, kind: Kind, given: readonly Scope[]): Promise<Trial> {
    const { request, of, owner, publishedAt, authorId: sentAuthor = owner } = right;
    const [method = '', target = ''] = request.split(' ');
    const number = ++count;
    const subject = of.includes('no user yet') ? `new-${number}` : await makeUser(`me-${number}`);
    const other = await makeUser(`other-${number}`);
    const ids = { me: subject, caller: subject, another: other, nobody: null };
    const isPost = target.startsWith('/posts');
    const input = {
      title: 'A',
      authorId: ids[owner],
      ...(publishedAt !== undefined && { publishedAt }),
    };
    const isThere = isPost && method !== 'POST';
    const id = isThere ? (await core.posts.create(input)).record.id : (ids[owner] ?? 'none');
    const path = target
      .replace(':id', id)
      .replace('email=…', `email=other-${number}@x.org`)
      .replace('authorId=…', `authorId=${ids[owner]}`);
    const isList = method === 'GET' && !target.includes(':id') && target !== '/users/me';
    const ofOne = `${path.includes('?') ? '&' : '?'}id=${id}&count=exact`;
    const hasToken = kind === 'user' || kind === 'client';
    const api = hasToken ? withTokens : await openTo(kind, given);
    const headers = hasToken
      ? as({ subject: kind === 'user' ? subject : null, scopes: given })
      : {};
    const isBare = method === 'GET' || method === 'DELETE';
    // A patch sends the author only if the row is about changing it.
    const isSaid = method !== 'PATCH' || right.authorId !== undefined;
    const body = isPost
      ? { title: 'B', ...(isSaid && { authorId: ids[sentAuthor] }) }
      : { name: 'B' };
    const url = isList ? path + ofOne : path;
    const answer = await api.send(method, url, headers, isBare ? undefined : body);
    if (method === 'GET') {
      const head = await api.send('HEAD', url, headers);
      const tags = [answer, head].map((one) => [one.status, one.headers.get('etag')]);
      expect(tags[1]).to.deep.equal(tags[0]);
    }
    return { answer, id, other };
  }

  /** Returns the outcome of a response, and expects that it reveals nothing else. */
  function outcomeOf(right: Right, kind: Kind, { answer, id, other }: Trial): Outcome {
    const { status, body, headers, text } = answer;
    const refusal = kind === 'anonymous beside credentials' ? 401 : 403;
    if (status === refusal) {
      expect(text).not.to.include('@x.org');
      return 'refused';
    }
    if (status === 404) return 'hidden';
    expect(status, text).to.be.oneOf([200, 201]);
    if (!right.request.startsWith('GET')) return 'done';
    if (right.request.includes('include')) {
      expect(body.users.map((user) => Object.keys(user))).to.deep.equal([
        ['id', 'name', 'createdAt'],
      ]);
      expect(body.users[0]?.id).to.equal(other);
      return 'public';
    }
    const list = body.users ?? body.posts;
    if (list !== undefined) {
      expect(body.total).to.equal(list.length);
      if (list.length === 0) return 'hidden';
    }
    const [record] = list ?? [body];
    expect(record?.id).to.equal(id);
    const isUser = right.request.startsWith('GET /users');
    const isPublic = isUser && record?.email === undefined;
    if (isPublic) expect(Object.keys(record ?? {})).to.have.members(['id', 'name', 'createdAt']);
    if (list === undefined) {
      expect(headers.get('etag')).to.match(isPublic ? /^"1-[\w-]{8}"$/ : /^"1"$/);
    }
    return isPublic ? 'public' : 'done';
  }

  for (const kind of kinds) {
    it(`hold for a caller of the kind "${kind}"`, async function () {
      this.timeout(240_000);
      const wrong: string[] = [];
      for (const right of rights) {
        // A caller without a user owns no records.
        if (right.owner === 'caller' && kind !== 'user') continue;
        const cells = sets.map(async (given) => {
          const seen = outcomeOf(right, kind, await trial(right, kind, given));
          const said = expected(right, kind, given);
          const what = `${right.request} of ${right.of} by ${given}`;
          if (seen !== said) wrong.push(`${what}: ${seen}, not ${said}`);
        });
        await Promise.all(cells);
      }
      expect(wrong).to.deep.equal([]);
    });
  }
}

describe('the table of rights in docs/security.md', () => {
  it('is up to date (UPDATE_DOCS=1 rewrites it)', () => {
    const text = readFileSync(document, 'utf8');
    const [before = '', after = ''] = text.split(/<!-- rights[^>]* -->[\s\S]*<!-- end -->/);
    const note = '<!-- rights: test/adapters/http/access/rights.ts, by UPDATE_DOCS=1 -->';
    const made = `${before}${note}\n\n${rightsTable()}\n\n<!-- end -->${after}`;
    if (process.env.UPDATE_DOCS) writeFileSync(document, made);
    expect(readFileSync(document, 'utf8')).to.equal(made);
  });
});

await describeOnStores('the rights in docs/security.md', itHolds, true);
