// A template that escapes each value: html`<p>${text}</p>`.

/** Markup that needs no escaping. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Markup | string | false | null | undefined | readonly Value[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const textOf = (value: Value): string => {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (mark) => entities[mark] ?? '');
  return Array.isArray(value) ? value.map(textOf).join('') : '';
};

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...values.map(textOf)));
}
