import { html, type TemplateResult } from 'lit-html';
import { isApiProblem, type RecordEvent } from 'rostrum-client';

/** What is shown below the links: a list, a form. */
export interface View {
  readonly title: string;
  show(): Html;
  /** Whether something was typed that is not saved. */
  isChanged?(): boolean;
  /** Told of what changed on the server. */
  follow?(events: readonly RecordEvent[]): void;
}

export type Html = TemplateResult | string;

/** Draws the page anew, after something that it shows has changed. */
export let refresh = () => {};

export function onChange(draw: () => void): void {
  refresh = draw;
}

/** What a screen reader is told, and everybody sees for some seconds. */
export let notice = '';
let clearing: ReturnType<typeof setTimeout> | undefined;

export function tell(text: string): void {
  notice = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => tell(''), 6000);
  if (text === '') clearTimeout(clearing);
  refresh();
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

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function time(value: unknown): Html {
  if (typeof value !== 'string') return '';
  return html`<time datetime=${value} title=${value}>${format.format(new Date(value))}</time>`;
}

export function publication(value: unknown): Html {
  if (value === undefined) return '';
  if (value === null) return html`<span class="badge">Draft</span>`;
  const isLate = Date.parse(String(value)) > Date.now();
  return isLate
    ? html`<span class="badge late">Scheduled</span> ${time(value)}`
    : html`<span class="badge good">Published</span> ${time(value)}`;
}

/** A choice of one, by values and their names. */
export function options(all: readonly (readonly [string, string])[], chosen: string): Html[] {
  return all.map(
    ([value, text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`,
  );
}

/** A place in the page, as the part of its URL behind `#`. */
export function href(path: string, query: URLSearchParams | string = ''): string {
  const text = String(query);
  return `#/${path}${text && `?${text}`}`;
}
