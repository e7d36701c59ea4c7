import { html } from 'lit-html';
import type { Versioned } from 'rostrum-client';
import { type Field, textOf, valueIn } from './fields.ts';
import { type Html, refresh } from './page.ts';
import type { Item } from './session.ts';

/**
 * Both versions of a record side by side. In each field that differs one of them is chosen.
 *
 * @param before the record as it was opened
 * @param mine as this person wants it
 * @param theirs as somebody else has saved it meanwhile
 */
export function conflictOf(
  before: Item,
  mine: Item,
  theirs: Versioned<Item>,
  fields: readonly Field[],
) {
  const textIn = (item: Item, field: Field) => {
    const value = valueIn(item, field, fields);
    return value === undefined ? '' : textOf(typeof value === 'string' ? 'line' : 'json', value);
  };
  const isSame = (a: Item, b: Item, field: Field) => textIn(a, field) === textIn(b, field);
  const differing = fields.filter((field) => !isSame(mine, theirs.record, field));
  // Where only they changed something, theirs is what both want.
  const taken = new Set(differing.filter((field) => isSame(before, mine, field)));

  /** The record of the choices. */
  function merged(): Item {
    const chosen: Record<string, unknown> = {};
    for (const field of fields) {
      const value = valueIn(taken.has(field) ? theirs.record : mine, field, fields);
      if (field.name === '') Object.assign(chosen, value);
      else if (value !== undefined) chosen[field.name] = value;
    }
    return { ...chosen, id: mine.id };
  }

  function choice(field: Field, isTheirs: boolean): Html {
    const pick = () => {
      taken[isTheirs ? 'add' : 'delete'](field);
      refresh();
    };
    return html`<td><label class="choice"><input type="radio" name=${`of-${field.name}`}
      .checked=${taken.has(field) === isTheirs} @change=${pick}>
      <span class="hidden">${isTheirs ? 'Theirs' : 'Mine'}:</span>
      <pre>${textIn(isTheirs ? theirs.record : mine, field) || '(empty)'}</pre></label></td>`;
  }

  function show(save: () => void, leave: () => void): Html {
    const row = (field: Field) =>
      html`<tr><th scope="row">${field.label}</th>${choice(field, false)}${choice(field, true)}</tr>`;
    return html`<section class="conflict" aria-labelledby="conflict">
      <h2 id="conflict" tabindex="-1">Somebody else saved this record meanwhile</h2>
      <p>Nothing of yours is saved yet. Choose what each field is to be; what is not listed is the
        same in both.</p>
      <table><thead><tr><th scope="col">Field</th><th scope="col">Mine</th><th scope="col">Theirs</th></tr></thead>
      <tbody>${differing.map(row)}</tbody></table>
      <div class="bar"><button type="button" class="primary" @click=${save}>Save this</button>
      <button type="button" @click=${leave}>Leave it as theirs</button></div></section>`;
  }

  return { theirs, merged, show };
}
