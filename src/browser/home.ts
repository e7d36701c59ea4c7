// What the home page does beside being read: copies code, counts records, and runs the examples.

import { offerCopy } from './copy.ts';

const { api = '', admin, lists = '' } = document.documentElement.dataset;
/** As requests have it. */
const front = new URL(api, location.href).pathname;

interface Result {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The one of /admin in this tab, where the server asks for any. */
const tokenOfTab = () => (admin === undefined ? null : sessionStorage.getItem('rostrum.token'));

async function send(url: string, init: RequestInit = {}): Promise<Result> {
  const token = tokenOfTab();
  const headers = { ...init.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { ...init, headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function call(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object,
): Promise<Result> {
  if (body === undefined) return send(api + path, { method, headers });
  const json = { ...headers, 'Content-Type': 'application/json' };
  return send(api + path, { method, headers: json, body: JSON.stringify(body) });
}

/** The server did otherwise than the example has it. */
class Refusal extends Error {
  /** Whether another caller might be allowed it. */
  readonly isOfCaller: boolean;

  constructor({ status, body }: Result) {
    const hints: Readonly<Record<number, string>> = {
      ...(admin === undefined && { 401: ' The first request above has the place of a key.' }),
      422: ' The posts of this server need fields that no example knows.',
    };
    super(`${body.error}${hints[status] ?? ''}`);
    this.isOfCaller = status === 401 || status === 403;
  }
}

/** What an example shows, and what it made, to be deleted at its end. */
class Run {
  readonly lines: string[] = [];
  readonly #made: string[] = [];

  say(line: string): void {
    // The end of an id tells records apart that were made one after the other.
    this.lines.push(line.replace(/[\da-f]{8}-[\da-f-]{21}([\da-f]{6})/g, '…$1'));
  }

  /** Says a request and what came back. @throws Refusal for another status than the expected one */
  async show(status: number, ...parameters: Parameters<typeof call>): Promise<Result> {
    const [method, path, headers = {}, body] = parameters;
    if (this.lines.length > 0) this.say('');
    this.say(`${method} ${front}${path}`);
    for (const [name, value] of Object.entries(headers)) this.say(`  ${name}: ${value}`);
    if (body) this.say(`  ${JSON.stringify(body)}`);
    const result = await call(...parameters);
    const code = typeof result.body.code === 'string' ? ` ${result.body.code}` : '';
    const tag = result.headers.get('ETag');
    this.say(`→ ${result.status}${code}${tag ? `  ETag: ${tag}` : ''}`);
    if (result.headers.has('Idempotency-Replayed')) this.say('  Idempotency-Replayed: true');
    for (const one of (result.body.errors ?? []) as { pointer?: string; message: string }[]) {
      this.say(`  ${one.pointer}: ${one.message}`);
    }
    return this.#expect(status, result);
  }

  /** Makes a draft: in sight, or without a word. */
  async draft(title: string, isShown = false, headers = {}): Promise<Result> {
    const parameters = ['POST', '/posts', headers, { title, publishedAt: null }] as const;
    const send = isShown ? this.show(201, ...parameters) : call(...parameters);
    const result = this.#expect(201, await send);
    this.#made.push(pathOf(result));
    return result;
  }

  async delete(path: string): Promise<void> {
    this.#expect(200, await call('DELETE', path, { 'If-Match': '*' }));
    this.#made.splice(this.#made.indexOf(path), 1);
  }

  async list(path: string): Promise<{ posts: { title: string }[]; next: string | null }> {
    const { body } = this.#expect(200, await call('GET', path));
    return body as Awaited<ReturnType<Run['list']>>;
  }

  async end(): Promise<void> {
    for (const path of new Set(this.#made)) {
      await this.delete(path).catch(() => this.say(`${front}${path} is left, a draft.`));
    }
  }

  #expect(status: number, result: Result): Result {
    if (result.status === status) return result;
    throw new Refusal(result);
  }
}

const pathOf = ({ body }: Result) => `/posts/${body.id}`;

/** Each asks for the scopes of posts alone. */
const examples: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  async conflict(run) {
    const made = await run.draft('A note', true);
    const seen = { 'If-Match': made.headers.get('ETag') ?? '' };
    await run.show(200, 'PATCH', pathOf(made), seen, { title: 'Changed by one' });
    await run.show(412, 'PATCH', pathOf(made), seen, { title: 'Lost by another?' });
  },
  async repeat(run) {
    const key = { 'Idempotency-Key': `home-${Date.now()}` };
    const made = await run.draft('A note', true, key);
    const again = await run.draft('A note', true, key);
    run.say(made.body.id === again.body.id ? 'The same id: there is one post.' : 'Another id.');
  },
  async pages(run) {
    const word = `Example ${Date.now() % 1e6}`;
    const first = await run.draft(`${word}, 1`);
    for (const number of [2, 3, 4]) await run.draft(`${word}, ${number}`);
    run.say('Four drafts are made: 1, 2, 3 and 4.');
    // Who sees no drafts but those of its own finds them by their author.
    const { authorId } = first.body;
    const query = new URLSearchParams({ 'title[startsWith]': word, sort: 'title', limit: '2' });
    if (typeof authorId === 'string') query.set('authorId', authorId);
    const met: string[] = [];
    const read = async (cursor = ''): Promise<string | null> => {
      if (cursor !== '') query.set('cursor', cursor);
      const first = `GET ${front}/posts?${decodeURIComponent(String(query)).replaceAll('+', ' ')}`;
      run.say(cursor === '' ? first : `GET …&cursor=${cursor.slice(0, 8)}…`);
      const { posts, next } = await run.list(`/posts?${query}`);
      const page = posts.map(({ title }) => title.replace(`${word}, `, ''));
      run.say(`→ 200: ${page.join(', ')}`);
      met.push(...page);
      return next;
    };
    let next = await read();
    await run.delete(pathOf(first));
    await run.draft(`${word}, 2½`);
    run.say('Meanwhile 1 is deleted, and 2½ inserted.');
    while (next) next = await read(next);
    const isRight = met.join() === '1,2,2½,3,4';
    run.say(isRight ? 'None was skipped, and none came twice.' : `It met ${met.join(', ')}.`);
  },
  async problem(run) {
    await run.show(422, 'POST', '/posts', {}, { title: ' ', publishedAt: 'soon' });
  },
};

/** Runs an example. @returns what is to be seen of it */
async function outcomeOf(example: (run: Run) => Promise<void>): Promise<(string | Node)[]> {
  const run = new Run();
  const links: Node[] = [];
  try {
    await example(run);
  } catch (error) {
    run.say(error instanceof Refusal ? error.message : 'The server does not answer.');
    if (error instanceof Refusal && error.isOfCaller && admin !== undefined) {
      const textContent = 'Sign in at /admin in this tab, and try again.';
      links.push(Object.assign(document.createElement('a'), { href: admin, textContent }));
    }
  }
  await run.end();
  return [`${run.lines.join('\n')}\n`, ...links];
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-run]')) {
  const output = button.parentElement?.querySelector('pre');
  const example = examples[button.dataset.run ?? ''];
  button.hidden = false;
  button.addEventListener('click', async () => {
    // It keeps the focus, as a disabled one would not.
    if (button.ariaDisabled === 'true' || example === undefined) return;
    button.ariaDisabled = 'true';
    output?.replaceChildren(...(await outcomeOf(example)));
    button.ariaDisabled = null;
  });
}

for (const code of document.querySelectorAll('pre[data-copied]')) offerCopy(code);

/** What runs, as whom this tab asks, and how many records there are: what its caller may know. */
async function tell(): Promise<void> {
  const counts: string[] = [];
  let open = lists.split(' ');
  if (tokenOfTab() !== null) {
    const { status, body } = await send(`${admin}/caller`);
    if (status !== 200) return;
    const { name, scopes, runs } = body as { name: string; scopes: string[]; runs?: string[] };
    open = ['users', 'posts'].filter((list) =>
      scopes.some((one) => one.startsWith(`${list}:read`)),
    );
    if (runs) fill('#facts', runs);
    if (name) counts.push(`signed in as ${name}`);
  }
  for (const list of open.filter((list) => list !== '').reverse()) {
    const { body } = await call('GET', `/${list}?limit=1&count=exact&fields=createdAt`);
    if (typeof body.total !== 'number') continue;
    const { total } = body;
    counts.unshift(`${total.toLocaleString()} ${total === 1 ? list.slice(0, -1) : list}`);
  }
  fill('#counts', counts);
}

function fill(place: string, texts: readonly string[]): void {
  document.querySelector(place)?.replaceChildren(texts.join(' · '));
}

tell().catch(() => {}); // All else on the page is as good without it.
