import { html, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { isApiProblem, type RecordEvent } from 'rostrum-client';
import { type Item, titleOf as nameOf } from './fields.ts';
import type { Session } from './session.ts';

/** A view below the header: a list or a form. */
export interface View {
  title(): string;
  show(): Html;
  /** True if it has unsaved text. */
  isChanged?(): boolean;
  /** Called with events of the server. */
  follow(events: readonly RecordEvent[]): void;
  /** True once the user has left this view; late responses are ignored. */
  isLeft?: boolean;
  /** Its URL, behind `#`, and as whom it was opened. */
  at?: string;
  by?: Session;
}

export type Html = TemplateResult | string;
/** Values, and their names. */
export type Choices = Iterable<readonly [value: string, name: string]>;

export const words = {
  users: { one: 'user', many: 'users', heading: 'Users', title: 'name' },
  posts: { one: 'post', many: 'posts', heading: 'Posts', title: 'title' },
} as const;

/** The name of a record; its id where the name shows nothing. */
export const titleOf = (kind: keyof typeof words, item: Item) => nameOf(item, words[kind].title);

/** The page that shows it all. */
export const page = {
  /** Draws it anew, after something that it shows has changed. */
  refresh: () => {},
  /** Asks for credentials, and says why. Typed text stays. */
  askForKey: (_why: string) => {},
};

/** Where the lists were that were shown last. */
export const lists = new Map<string, string>();

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let notice = { text: '', look: '' };

/** Tells what was done, to screen readers too, for some seconds; without a look, to them alone. */
export function notify(text: string, look = 'shown'): void {
  const told = { text, look };
  notice = told;
  if (text !== '') setTimeout(() => notice === told && notify(''), 6000);
  page.refresh();
}

export function showNotice(): Html {
  return html`<p role="status" class=${`notice ${notice.text && notice.look}`}>${notice.text}</p>`;
}

/** Returns a sentence about an error. If the key is no longer valid, asks for another one with it. */
export function sentenceOf(error: unknown, view?: View): string {
  const text = error instanceof Error ? error.message : String(error);
  if (view?.isLeft || !isApiProblem(error, 'unauthenticated')) return text;
  page.askForKey(text);
  return '';
}

/** Moves to where the person has to look next, once it is drawn. */
export function focus(selector: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());
}

export function alertOf(message: string): Html {
  return message && html`<p class="alert" role="alert" tabindex="-1">${message}</p>`;
}

export function button(text: string, click: () => unknown, look = ''): Html {
  return html`<button type="button" class=${look} @click=${click}>${text}</button>`;
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function time(value: unknown): Html {
  if (typeof value !== 'string') return '';
  return html`<time datetime=${value} title=${value}>${format.format(new Date(value))}</time>`;
}

export function publication(value: unknown): Html {
  if (typeof value !== 'string') return html`<span class="badge">Draft</span>`;
  const isScheduled = Date.parse(value) > Date.now();
  return html`<span class=${isScheduled ? 'badge late' : 'badge good'}>${isScheduled ? 'Scheduled' : 'Published'}</span> ${time(value)}`;
}

/** A value in words: of a list, its values. */
export function wordOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.map(wordOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The options of a `select`. One that a person has chosen stays it when there are more. */
export function options(chosen: string, all: Choices): unknown {
  const one = ([value, name]: readonly [string, string]) =>
    html`<option value=${value} .selected=${value === chosen}>${name}</option>`;
  return repeat(all, ([value]) => value, one);
}

export const countOf = (count: number, kind: keyof typeof words) =>
  `${count.toLocaleString()} ${words[kind][count === 1 ? 'one' : 'many']}`;

/** A place in the page, as the part of its URL behind `#`. */
export function href(path: string, query: URLSearchParams | string = ''): string {
  const text = String(query);
  return `#/${path}${text && `?${text}`}`;
}

export const hrefOf = (kind: string, id: string) => href(`${kind}/${encodeURIComponent(id)}`);
