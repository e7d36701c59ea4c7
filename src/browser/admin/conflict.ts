import { html, type TemplateResult } from 'lit-html';
import type { Field } from './fields.ts';
import { textOf, valueIn } from './fields.ts';
import { refresh } from './page.ts';
import type { Item } from './session.ts';

/** The record as it was opened, as this person wants it, and as somebody else has saved it meanwhile. */
export interface Versions {
  readonly before: Item;
  readonly mine: Item;
  readonly theirs: Item;
  /** The version of theirs. */
  readonly version: number;
}

/** Both versions of a record side by side. In each field that differs one of them is chosen. */
export class Conflict {
  readonly versions: Versions;
  readonly #fields: readonly Field[];
  readonly #differing: readonly Field[];
  /** The fields in which theirs is taken. */
  readonly #theirs = new Set<string>();

  constructor(versions: Versions, fields: readonly Field[]) {
    this.versions = versions;
    this.#fields = fields;
    const { before, mine, theirs } = versions;
    this.#differing = fields.filter(
      (field) => this.#text(mine, field) !== this.#text(theirs, field),
    );
    // Where only they changed something, theirs is what both want.
    for (const field of this.#differing) {
      if (this.#text(before, field) === this.#text(mine, field)) this.#theirs.add(field.name);
    }
  }

  #text(item: Item, field: Field): string {
    const value = valueIn(item, field, this.#fields);
    return value === undefined ? '' : textOf(typeof value === 'string' ? 'line' : 'json', value);
  }

  /** The record of the choices. */
  merged(): Item {
    const { mine, theirs } = this.versions;
    const chosen: Record<string, unknown> = {};
    for (const field of this.#fields) {
      const value = valueIn(this.#theirs.has(field.name) ? theirs : mine, field, this.#fields);
      if (field.name === '') Object.assign(chosen, value);
      else if (value !== undefined) chosen[field.name] = value;
    }
    return { ...chosen, id: mine.id };
  }

  show(save: () => void, leave: () => void): TemplateResult {
    const { mine, theirs } = this.versions;
    const choice = (field: Field, isTheirs: boolean) => {
      const pick = () => {
        this.#theirs[isTheirs ? 'add' : 'delete'](field.name);
        refresh();
      };
      const text = this.#text(isTheirs ? theirs : mine, field);
      return html`<td><label class="choice"><input type="radio" name=${`of-${field.name}`}
        .checked=${this.#theirs.has(field.name) === isTheirs} @change=${pick}>
        <span class="hidden">${isTheirs ? 'Theirs' : 'Mine'}:</span>
        <pre>${text || '(empty)'}</pre></label></td>`;
    };
    return html`<section class="conflict" aria-labelledby="conflict">
      <h2 id="conflict" tabindex="-1">Somebody else saved this record meanwhile</h2>
      <p>Nothing of yours is saved yet. Choose what each field is to be; what is not listed is the
        same in both.</p>
      <table><thead><tr><th scope="col">Field</th><th scope="col">Mine</th><th scope="col">Theirs</th></tr></thead>
      <tbody>${this.#differing.map(
        (field) =>
          html`<tr><th scope="row">${field.label}</th>${choice(field, false)}${choice(field, true)}</tr>`,
      )}</tbody></table>
      <div class="bar"><button type="button" class="primary" @click=${save}>Save this</button>
      <button type="button" @click=${leave}>Leave it as theirs</button></div></section>`;
  }
}
