// Sign-up, sign-in, and the profile of the person who is signed in.

import { button, onSubmit, unsaved } from './actions.ts';
import { field, h, input, say, submit } from './dom.ts';
import { account, api, loadSession, ownUser, signIn, signOut, signUp } from './session.ts';

const email = () =>
  field('Email', input('email', { type: 'email', autocomplete: 'username', required: true }));
const name = (value = '') =>
  field(
    'Name',
    input('name', {
      value,
      autocomplete: 'name',
      maxLength: 200,
      pattern: '.*\\S.*',
      required: true,
    }),
  );
const password = (label: string, autocomplete: AutoFill) =>
  field(
    label,
    input('password', {
      type: 'password',
      minLength: 8,
      maxLength: 128,
      autocomplete,
      required: true,
    }),
  );

export async function visitor(): Promise<Node[]> {
  return [
    h('h1', {}, 'Sign in'),
    onSubmit(
      h(
        'form',
        { ariaLabel: 'Sign in' },
        email(),
        password('Password', 'current-password'),
        submit('Sign in'),
      ),
      async (credentials) => {
        await signIn(credentials);
        await goTo('#/');
      },
    ),
    h('h2', {}, 'Sign up'),
    onSubmit(
      h(
        'form',
        { ariaLabel: 'Sign up' },
        name(),
        email(),
        password('Password, at least 8 characters', 'new-password'),
        submit('Sign up'),
      ),
      async (fields) => {
        await signUp(fields);
        await goTo('#/');
      },
    ),
  ];
}

export async function profile(): Promise<Node[]> {
  if (account === undefined) return visitor();
  const user = await ownUser(account);
  const about = h('textarea', { name: 'about', value: user.about ?? '', maxLength: 1000 });
  return [
    h('h1', {}, 'Profile'),
    onSubmit(
      h('form', { ariaLabel: 'Profile' }, name(user.name), field('About', about), submit('Save')),
      async ({ name = '', about = '' }) => {
        await api.me.patch({ name, about: about || null });
        say('Saved.');
      },
    ),
    h('h2', {}, 'Leave'),
    h(
      'p',
      {},
      'Delete your profile and all your posts. Your sign-in stays: if you sign in again, you start with an empty profile.',
    ),
    button('Delete my profile', leave, 'bad'),
  ];
}

async function leave(): Promise<void> {
  if (!confirm('Delete your profile and all your posts?')) return;
  await api.me.delete({ posts: 'delete' });
  await exit();
}

export async function exit(): Promise<void> {
  await signOut();
  unsaved.check = () => false;
  location.href = '/';
}

/** Goes to a view once someone has signed in or out: the event `account` shows it. */
async function goTo(view: string): Promise<void> {
  unsaved.check = () => false;
  history.pushState(null, '', view);
  await loadSession();
}
