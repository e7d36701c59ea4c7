const api = new URLSearchParams(location.search).get('api') ?? '/api/v1';

const form = document.querySelector('form');
const list = document.querySelector('ul');
const more = document.querySelector('#more');
const message = document.querySelector('#message');

/** Sends a request. Throws the problem (RFC 9457) that the API answers with. */
async function call(method, path, { body, headers } = {}) {
  const response = await fetch(api + path, {
    method,
    headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const result = await response.json();
  if (!response.ok) throw result;
  return { result, etag: response.headers.get('ETag') };
}

/** Shows what an action of the user ends in. */
async function attempt(action) {
  message.textContent = '';
  for (const small of form.querySelectorAll('small')) small.textContent = '';
  try {
    await action();
  } catch (problem) {
    message.textContent = problem.detail ?? 'The server cannot be reached.';
    for (const { pointer = '', message } of problem.errors ?? []) {
      const field = form.elements.namedItem(pointer.slice(1));
      if (field) field.parentElement.querySelector('small').textContent = message;
    }
  }
}

// A page ends in the cursor of the next one; it is null on the last page.
let cursor = null;

async function showMore() {
  const query = new URLSearchParams({ limit: 10, ...(cursor && { cursor }) });
  const { result } = await call('GET', `/posts?${query}`);
  list.append(...result.posts.map(itemOf));
  cursor = result.next;
  more.hidden = cursor === null;
}

function itemOf(post) {
  const item = document.createElement('li');
  const title = document.createElement('span');
  title.textContent = post.title;
  const rename = button('Rename', async () => {
    // The ETag of what the user sees: a change that somebody else made meanwhile is not lost.
    const { result, etag } = await call('GET', `/posts/${post.id}`);
    const text = prompt('Title', result.title);
    if (text === null) return;
    try {
      const changed = await call('PATCH', `/posts/${post.id}`, {
        body: { title: text },
        headers: { 'If-Match': etag },
      });
      title.textContent = changed.result.title;
    } catch (problem) {
      if (problem.code !== 'version-mismatch') throw problem;
      const present = await call('GET', `/posts/${post.id}`);
      title.textContent = present.result.title;
      throw { detail: 'Somebody else changed this post. Here it is as it is now.' };
    }
  });
  const remove = button('Delete', async () => {
    await call('DELETE', `/posts/${post.id}`);
    item.remove();
  });
  item.append(title, rename, remove);
  return item;
}

function button(text, action) {
  const element = document.createElement('button');
  element.textContent = text;
  element.addEventListener('click', () => attempt(action));
  return element;
}

// One key for one post: sent again after a failure, the same key makes no second one.
let key = newKey();

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(async () => {
    const { title, authorId } = Object.fromEntries(new FormData(form));
    const { result } = await call('POST', '/posts', {
      body: { title, authorId: authorId || null },
      headers: { 'Idempotency-Key': key },
    });
    key = newKey();
    list.prepend(itemOf(result));
    form.reset();
  });
});

// What was typed anew is another request, and another request needs another key.
form.addEventListener('input', () => {
  key = newKey();
});
more.addEventListener('click', () => attempt(showMore));

await attempt(async () => {
  for (let next = ''; next !== null; ) {
    const { result } = await call('GET', `/users?sort=name${next && `&cursor=${next}`}`);
    form.elements.authorId.append(...result.users.map(({ id, name }) => new Option(name, id)));
    next = result.next;
  }
  await showMore();
});
