// What buttons and forms do, and how their errors are shown.

import { isApiProblem, type ProblemEntry } from 'rostrum-client';
import { find, h, say } from './dom.ts';
import { account, loadSession } from './session.ts';

/** Returns true if the view has texts that would be lost; each view starts without any. */
export const unsaved = { check: () => false };

/** Runs an action, and shows its error. */
export async function attempt(action: () => Promise<void>, form?: HTMLFormElement): Promise<void> {
  find('alert').textContent = '';
  say('');
  if (form) showErrors(form, []);
  try {
    await action();
  } catch (error) {
    const { message, status } = error as Error & { status?: number };
    const isSignedOut = status === 401 && account !== undefined;
    // Shows the form to sign in, unless someone has typed into this one.
    if (isSignedOut) await loadSession().catch(() => {});
    const hint = unsaved.check() ? ' Sign in in another window, then save again.' : '';
    find('alert').textContent = isSignedOut ? `You are signed out.${hint}` : message;
    if (form && isApiProblem(error)) showErrors(form, error.errors);
  }
}

/** Shows each error below its field, and goes to the first one. */
function showErrors(form: HTMLFormElement, errors: readonly ProblemEntry[]): void {
  for (const control of form.querySelectorAll('[aria-describedby]')) {
    const name = control.getAttribute('name');
    const error = errors.find(
      (entry) => 'pointer' in entry && entry.pointer.split('/')[1] === name,
    );
    control.setAttribute('aria-invalid', String(error !== undefined));
    const place = control.closest('.field')?.querySelector('.error');
    const message = error?.code === 'taken' ? 'Another post has this address.' : error?.message;
    if (place) place.textContent = message ?? '';
  }
  form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
}

/** Runs an action with the fields of a form, and the value of the button that was pressed. */
export function onSubmit(
  form: HTMLFormElement,
  action: (fields: Record<string, string>, pressed: string) => Promise<void>,
): HTMLFormElement {
  const run = onceAtATime((fields: Record<string, string>, pressed: string) =>
    attempt(() => action(fields, pressed), form),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(form)) as Record<string, string>;
    run(fields, (event.submitter as HTMLButtonElement).value);
  });
  return form;
}

export function button(text: string, action: () => Promise<void>, className = '') {
  const onclick = onceAtATime(() => attempt(action));
  return h('button', { type: 'button', className, onclick }, text);
}

/** Makes a second click do nothing while the first one is still at work. */
function onceAtATime<Args extends unknown[]>(action: (...args: Args) => Promise<void>) {
  let isRunning = false;
  return async (...args: Args): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    await action(...args);
    isRunning = false;
  };
}
