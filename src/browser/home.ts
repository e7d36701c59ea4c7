// What the home page does beside being read: copies code, counts records, and runs the examples.

const { api = '' } = document.documentElement.dataset;

interface Result {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function call(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object,
): Promise<Result> {
  const token = sessionStorage.getItem('rostrum.token'); // The one of /admin, in this tab.
  const response = await fetch(api + path, {
    method,
    headers: {
      ...headers,
      ...(body && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

type Say = (line: string) => void;

/** Says a request and what came back, in two lines. */
async function show(say: Say, ...parameters: Parameters<typeof call>): Promise<Result> {
  const [method, path, headers = {}, body] = parameters;
  const result = await call(...parameters);
  say(`${method} ${api}${path.length > 48 ? `${path.slice(0, 44)}…` : path}`);
  for (const [name, value] of Object.entries(headers)) say(`  ${name}: ${value}`);
  if (body) say(`  ${JSON.stringify(body)}`);
  const code = typeof result.body.code === 'string' ? ` ${result.body.code}` : '';
  const tag = result.headers.get('ETag');
  say(`→ ${result.status}${code}${tag ? `  ETag: ${tag}` : ''}`);
  if (result.headers.has('Idempotency-Replayed')) say('  Idempotency-Replayed: true');
  return result;
}

/** Each makes what it needs as a draft, and deletes it. */
const examples: Readonly<Record<string, (say: Say) => Promise<void>>> = {
  async conflict(say) {
    const made = await show(say, 'POST', '/posts', {}, { title: 'An example', publishedAt: null });
    if (made.status !== 201) return;
    const path = `/posts/${made.body.id}`;
    const seen = { 'If-Match': made.headers.get('ETag') ?? '' };
    await show(say, 'PATCH', path, seen, { title: 'Changed by one' });
    await show(say, 'PATCH', path, seen, { title: 'Lost by another?' });
    await call('DELETE', path);
  },
  async repeat(say) {
    const key = { 'Idempotency-Key': `home-${Date.now()}` };
    const body = { title: 'An example', publishedAt: null };
    const made = await show(say, 'POST', '/posts', key, body);
    if (made.status !== 201) return;
    const again = await show(say, 'POST', '/posts', key, body);
    say(`  ${made.body.id === again.body.id ? 'the same id: one post' : 'another id'}`);
    await call('DELETE', `/posts/${made.body.id}`);
  },
  async pages(say) {
    const first = await show(say, 'GET', '/posts?limit=2&fields=title');
    const { next, posts } = first.body as { next?: string; posts?: object[] };
    if (posts) say(`  ${posts.length} posts, next: ${next ? `"${next.slice(0, 16)}…"` : 'null'}`);
    if (next) await show(say, 'GET', `/posts?limit=2&fields=title&cursor=${next}`);
  },
  async problem(say) {
    const { body } = await show(say, 'POST', '/users', {}, { name: ' ', email: 'nowhere' });
    for (const one of (body.errors ?? []) as { pointer: string; message: string }[]) {
      say(`  ${one.pointer}: ${one.message}`);
    }
  },
};

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-run]')) {
  const output = button.parentElement?.querySelector('pre');
  button.hidden = false;
  button.addEventListener('click', async () => {
    const lines: string[] = [];
    button.disabled = true;
    try {
      await examples[button.dataset.run ?? '']?.((line) => lines.push(line));
    } catch {
      lines.push('The server does not answer.');
    }
    button.disabled = false;
    if (output) output.textContent = lines.join('\n');
  });
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const text = button.parentElement?.querySelector('pre')?.textContent ?? '';
  button.hidden = navigator.clipboard === undefined;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.trim());
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}

/** How many there are, where this caller may know. */
for (const kind of ['users', 'posts']) {
  const place = document.querySelector(`#${kind}`);
  call('GET', `/${kind}?limit=1&count=exact&fields=createdAt`).then(
    ({ body: { total } }) => {
      if (typeof total !== 'number' || place === null) return;
      place.textContent = `${total.toLocaleString()} ${total === 1 ? kind.slice(0, -1) : kind}`;
    },
    () => {},
  );
}
