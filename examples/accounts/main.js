import { createClient, isApiProblem } from 'rostrum-client';
import { session, signIn, signOut, signUp, token } from './session.js';

const { me, posts } = createClient({ url: '/api/v1', token });

const $ = (id) => document.getElementById(id);

/** Shows what an action ends in. */
async function attempt(action) {
  $('message').textContent = '';
  try {
    await action();
  } catch (error) {
    $('message').textContent = error.message;
    // The session has ended elsewhere.
    if (error.status === 401) await showSession();
  }
}

/** Calls an action with the fields of a form, and the value of its button. */
function onSubmit(id, action) {
  $(id).addEventListener('submit', (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.target));
    attempt(() => action(fields, event.submitter.value));
  });
}

async function showSession() {
  const account = await session();
  $('visitor').hidden = account !== undefined;
  $('member').hidden = account === undefined;
  if (account === undefined) {
    // Nothing of them is left for whoever comes next.
    $('mine').replaceChildren();
    $('profile').reset();
    return;
  }
  $('sign-in').reset();
  $('sign-up').reset();
  const { name, about = '' } = await ownUser(account);
  $('who').textContent = name;
  $('profile').elements.namedItem('name').value = name;
  $('profile').elements.namedItem('about').value = about;
  await showOwn();
}

/** The user of an account; the first time, it is made. */
async function ownUser({ name }) {
  try {
    return (await me.get()).record;
  } catch (error) {
    if (!isApiProblem(error, 'user-not-found')) throw error;
    return (await me.save({ name })).record;
  }
}

async function showOwn() {
  const { items } = await posts.list({ authorId: 'me', sort: '-createdAt' });
  $('mine').replaceChildren(
    ...items.map(({ id, title, publishedAt }) => {
      const isDraft = publishedAt === null;
      const change = { publishedAt: isDraft ? new Date().toISOString() : null };
      return row(
        title,
        isDraft ? 'draft' : 'public',
        button(isDraft ? 'Publish' : 'Make a draft', () => posts.patch(id, change)),
        button('Delete', () => posts.delete(id)),
      );
    }),
  );
}

// A page ends in the cursor of the next one; it is null on the last page.
let cursor = null;

async function showPublished() {
  const { items, users, next } = await posts.list({ include: 'author', limit: 10, cursor });
  const names = new Map(users.map(({ id, name }) => [id, name]));
  $('published').append(...items.map((post) => row(post.title, names.get(post.authorId))));
  cursor = next;
  $('more').hidden = next === null;
}

async function showPosts() {
  cursor = null;
  $('published').replaceChildren();
  await showPublished();
  if (!$('member').hidden) await showOwn();
}

function row(title, note, ...buttons) {
  const item = document.createElement('li');
  const span = document.createElement('span');
  const small = document.createElement('small');
  span.textContent = title;
  small.textContent = note;
  item.append(span, small, ...buttons);
  return item;
}

function button(text, action) {
  const element = document.createElement('button');
  element.type = 'button';
  element.textContent = text;
  const act = async () => {
    await action();
    await showPosts();
  };
  element.addEventListener('click', () => attempt(act));
  return element;
}

onSubmit('sign-in', async (credentials) => {
  await signIn(credentials);
  await showSession();
});
onSubmit('sign-up', async (account) => {
  await signUp(account);
  await showSession();
});
onSubmit('profile', async ({ name, about }) => {
  await me.patch({ name, about: about || null });
  await showSession();
  await showPosts();
});
onSubmit('write', async ({ title }, state) => {
  await posts.create({ title, ...(state === 'draft' && { publishedAt: null }) });
  $('write').reset();
  await showPosts();
});
$('sign-out').addEventListener('click', () =>
  attempt(async () => {
    await signOut();
    await showSession();
  }),
);
$('more').addEventListener('click', () => attempt(showPublished));

await attempt(showSession);
await attempt(showPublished);
