import { html } from 'lit-html';
import { type Entry, elementsIn, listOf, textOfList } from './fields.ts';
import * as ui from './ui.ts';

/** A list of texts: a chip for each, which can be removed, and an input that adds more. */
export function chips({ field, text, error, set }: Entry, id: string, about: unknown): ui.Html {
  const { all, typing } = listOf(text);

  function change(next: readonly string[], done: string, changed: readonly string[]): void {
    set(textOfList({ all: next, typing: '' }));
    // Screen readers ignore a second message with the same text.
    const count = `${field.label}: ${next.length}`;
    if (changed.length > 0) ui.notify(`${done} ${changed.join(', ')}. ${count}`, '');
  }

  function add(input: HTMLInputElement): void {
    const added = elementsIn(input.value);
    input.value = ''; // lit-html doesn't know of a text that was pasted and added at once.
    change([...all, ...added], 'Added', added);
  }

  function typed({ currentTarget }: Event): void {
    const input = currentTarget as HTMLInputElement;
    // On a soft keyboard, a comma has no key that says so.
    if (input.value.includes(',')) add(input);
    else set(textOfList({ all, typing: input.value }));
  }

  function pressed(event: KeyboardEvent): void {
    const { key, isComposing, repeat } = event;
    const input = event.currentTarget as HTMLInputElement;
    if (key === 'Enter' && !isComposing) {
      // Never saves the form: after a comma, people press Enter out of habit.
      event.preventDefault();
      if (input.value.trim() !== '') add(input);
    }
    // Holding the key deletes what was typed, and no chips.
    if (key === 'Backspace' && !repeat && input.value === '')
      change(all.slice(0, -1), 'Removed', all.slice(-1));
  }

  function remove({ currentTarget }: Event, at: number): void {
    const list = (currentTarget as Element).closest('.chips');
    change(all.toSpliced(at, 1), 'Removed', all.slice(at, at + 1));
    const buttons = [...(list?.querySelectorAll('button') ?? [])];
    (buttons[at] ?? buttons.at(-1) ?? document.getElementById(id))?.focus();
  }

  function chip(element: string, at: number): ui.Html {
    const name = element || '(empty)';
    const click = (event: Event) => remove(event, at);
    return html`<li><span>${name}</span><button type="button" aria-label=${`Remove ${name}`} @click=${click}>×</button></li>`;
  }

  return html`<ul class="chips" role="list" aria-label=${field.label}>${all.map(chip)}</ul>
    <input id=${id} .value=${typing} placeholder="Add…" enterkeyhint="enter" aria-required=${field.isRequired}
      aria-invalid=${error ? 'true' : 'false'} aria-describedby=${about} @input=${typed} @keydown=${pressed}>`;
}
