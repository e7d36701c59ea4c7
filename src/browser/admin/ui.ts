import { html, type TemplateResult } from 'lit-html';
import { isApiProblem, type RecordEvent } from 'rostrum-client';

/** What is shown below the links: a list, a form. */
export interface View {
  title(): string;
  show(): Html;
  /** Whether something was typed that is not saved. */
  isChanged?(): boolean;
  /** Told of what changed on the server. */
  follow(events: readonly RecordEvent[]): void;
  /** Whether another one is shown now: a response that comes late changes no page. */
  isLeft?: boolean;
}

export type Html = TemplateResult | string;

export const words = {
  users: { one: 'user', many: 'users', heading: 'Users', title: 'name' },
  posts: { one: 'post', many: 'posts', heading: 'Posts', title: 'title' },
} as const;

/** Draws the page anew, after something that it shows has changed. */
export let refresh = () => {};
/** Asks for credentials. What was typed stays. */
export let askForKey = () => {};

export function start(draw: () => void, ask: () => void): void {
  [refresh, askForKey] = [draw, ask];
}

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let notice = { text: '', place: '' };

/** Tells what was done, to screen readers too, for some seconds and on this page alone. */
export function notify(text: string): void {
  const told = { text, place: location.hash };
  notice = told;
  if (text !== '') setTimeout(() => notice === told && notify(''), 6000);
  refresh();
}

export function showNotice(): Html {
  const text = notice.place === location.hash ? notice.text : '';
  return html`<p role="status" class=${text ? 'notice shown' : 'notice'}>${text}</p>`;
}

export function sentenceOf(error: unknown): string {
  if (isApiProblem(error, 'no-response')) return 'The server does not answer.';
  return error instanceof Error ? error.message : String(error);
}

/** Moves to where the person has to look next, once it is drawn. */
export function focus(selector: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());
}

export function alertOf(message: string): Html {
  return message && html`<p class="alert" role="alert" tabindex="-1">${message}</p>`;
}

export function button(text: string, click: () => unknown, look = '', isOff = false): Html {
  return html`<button type="button" class=${look} ?disabled=${isOff} @click=${click}>${text}</button>`;
}

const numbers = new Intl.NumberFormat();
const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function time(value: unknown): Html {
  if (typeof value !== 'string') return '';
  return html`<time datetime=${value} title=${value}>${format.format(new Date(value))}</time>`;
}

export function publication(value: unknown): Html {
  if (typeof value !== 'string') return html`<span class="badge">Draft</span>`;
  const isLate = Date.parse(value) > Date.now();
  return html`<span class=${isLate ? 'badge late' : 'badge good'}>${isLate ? 'Scheduled' : 'Published'}</span> ${time(value)}`;
}

/** The options of a `select`: the names of values. */
export function options(chosen: string, ...all: readonly object[]): Html[] {
  const one = ([value, name]: [string, string]) =>
    html`<option value=${value} .selected=${value === chosen}>${name}</option>`;
  return all.flatMap(Object.entries).map(one);
}

export function countOf(count: number, kind: keyof typeof words): string {
  return `${numbers.format(count)} ${words[kind][count === 1 ? 'one' : 'many']}`;
}

/** A place in the page, as the part of its URL behind `#`. */
export function href(path: string, query: URLSearchParams | string = ''): string {
  const text = String(query);
  return `#/${path}${text && `?${text}`}`;
}

export function hrefOf(kind: string, id: string): string {
  return href(`${kind}/${encodeURIComponent(id)}`);
}
