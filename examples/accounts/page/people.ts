// Sign-up, sign-in, and the profile of the person who is signed in.

import { onSubmit, unsaved } from './actions.ts';
import { bar, field, find, h, input, link, say, submit } from './dom.ts';
import * as session from './session.ts';
import { account, api, loadSession, ownUser } from './session.ts';

const entry = (label: string, name: string, properties: Partial<HTMLInputElement>) =>
  field(label, input(name, { required: true, ...properties }));
const email = (value = '') =>
  entry('Email', 'email', { type: 'email', value, autocomplete: 'username' });
const name = (value = '') =>
  entry('Name', 'name', { value, autocomplete: 'name', maxLength: 200, pattern: '.*\\S.*' });
const password = (label = 'Password', autocomplete: AutoFill = 'current-password') =>
  entry(label, 'password', { type: 'password', minLength: 8, maxLength: 128, autocomplete });

const newPassword = () => password('New password, at least 8 characters', 'new-password');

/** Creates a form with its name on the button. */
function form(
  name: string,
  fields: readonly Node[],
  action: (fields: Record<string, string>) => Promise<void>,
): HTMLFormElement {
  return onSubmit(h('form', { ariaLabel: name }, ...fields, submit(name)), action);
}

/** Shows that a form has done its work. */
function finish(title: string, text: string): void {
  find('view').replaceChildren(h('h1', {}, title), h('p', {}, text));
}

export const visitor = async () => [
  h('h1', {}, 'Sign in'),
  form('Sign in', [email(), password()], async (credentials) => {
    await session.signIn(credentials);
    await goTo('#/');
  }),
  h('p', {}, link('#/forgot', 'Forgot your password?')),
  ...(document.body.dataset.signUp === 'closed' ? [] : signUp()),
];

const signUp = () => [
  h('h2', {}, 'Sign up'),
  form('Sign up', [name(), email(), newPassword()], async (fields) => {
    await session.signUp(fields);
    const text = `We have sent a mail to ${fields.email}. Its link expires in an hour.`;
    finish('Check your mail', text);
  }),
];

/** The form behind the link of the mail that confirms an address. */
export async function verify(token: string): Promise<Node[]> {
  const { email: address } = session.payloadOf(token);
  return [
    h('h1', {}, 'Confirm your address'),
    form('Confirm', [email(address), password()], async (credentials) => {
      await session.verify(token, credentials);
      await goTo('#/');
    }),
    h('p', {}, link('#/forgot', 'Forgot your password?')),
  ];
}

export const forgot = async () => [
  h('h1', {}, 'Forgot your password?'),
  form('Send a link', [email()], async (fields) => {
    await session.askForReset(fields);
    finish('Check your mail', `If ${fields.email} has an account, we have sent a mail there.`);
  }),
];

/** The form behind the link of the mail that resets a password. */
export const reset = async (token: string) => [
  h('h1', {}, 'Choose a new password'),
  form('Save', [newPassword()], async ({ password = '' }) => {
    await session.reset(token, password);
    finish('Your new password is saved', 'Sign in with it.');
  }),
];

export async function profile(): Promise<Node[]> {
  if (account === undefined) return visitor();
  const user = await ownUser(account);
  const about = h('textarea', { name: 'about', value: user.about ?? '', maxLength: 1000 });
  const saveFields = async ({ name = '', about = '' }: Record<string, string>) => {
    await api.me.patch({ name, about: about || null });
    say('Saved.');
  };
  const buttons = bar(
    submit('Delete it, keep my posts', { value: 'keep', className: '' }),
    submit('Delete it with my posts', { value: 'delete', className: 'bad' }),
  );
  const deletion = h('form', { ariaLabel: 'Delete your account' }, password(), buttons);
  onSubmit(deletion, async ({ password = '' }, pressed) => {
    if (!confirm('Delete your account?')) return;
    await session.deleteAccount(pressed === 'delete' ? 'delete' : 'keep', password);
    leave();
  });
  return [
    h('h1', {}, 'Profile'),
    form('Save', [name(user.name), field('About', about)], saveFields),
    h('h2', {}, 'Delete your account'),
    h('p', {}, 'This cannot be undone.'),
    deletion,
  ];
}

function leave(): void {
  unsaved.check = () => false;
  location.href = '/';
}

export async function exit(): Promise<void> {
  await session.signOut();
  leave();
}

/** Goes to a view once someone has signed in or out: the event `account` shows it. */
async function goTo(view: string): Promise<void> {
  unsaved.check = () => false;
  history.pushState(null, '', view);
  await loadSession();
}
