import { html } from 'lit-html';
import { isApiProblem, type Versioned } from 'rostrum-client';
import { conflictOf } from './conflict.ts';
import { control } from './control.ts';
import { type Field, forms, kindOf, parse, textOf, unescaped, valueIn } from './fields.ts';
import { list } from './list.ts';
import {
  alertOf,
  focus,
  type Html,
  href,
  refresh,
  sentenceOf,
  tell,
  time,
  type View,
} from './page.ts';
import { removal } from './removal.ts';
import { changes, type Item, type Kind, reads, session } from './session.ts';

/**
 * A record in a form.
 *
 * @param opened absent for a new one
 * @param author of a new post
 */
export function record(kind: Kind, opened?: Versioned<Item>, author = ''): View {
  const { fields } = forms[kind];
  const words = kind === 'users' ? ['Users', 'New user', 'name'] : ['Posts', 'New post', 'title'];
  const [many = '', fresh = '', title = ''] = words;
  let stored: Versioned<Item> | undefined;
  /** What was typed, by the names of fields. */
  let texts = new Map<string, string>(author === '' ? [] : [['authorId', author]]);
  let errors = new Map<string, string>();
  let message = '';
  let isBusy = false;
  let conflict: ReturnType<typeof conflictOf> | undefined;
  let posts: View | undefined;
  let deletion: ReturnType<typeof removal> | undefined;
  /** A form that is sent again, because no response came, makes one record. */
  let sent = { body: '', key: '' };
  if (opened !== undefined) take(opened);

  function take(now: Versioned<Item>): void {
    stored = now;
    [texts, errors, conflict, message] = [new Map(), new Map(), undefined, ''];
    if (kind === 'users' && reads('posts')) posts ??= list('posts', undefined, now.record.id);
    deletion = changes(kind, now.record) ? removal(kind, now) : undefined;
  }

  const given = (field: Field) => valueIn(stored?.record, field, fields);
  const storedText = (field: Field) => textOf(kindOf(field, given(field)), given(field));
  const typedText = (field: Field) => texts.get(field.name) ?? storedText(field);
  const isTyped = (field: Field) => typedText(field) !== storedText(field);

  /** What is to be saved: as it is stored, with what was typed. Undefined where that cannot be read. */
  function read(): object | undefined {
    const input: Record<string, unknown> = {};
    errors = new Map();
    for (const field of fields) {
      let value = given(field);
      const isNew = stored === undefined && field.isRequired;
      try {
        if (isNew || isTyped(field)) value = parse(field, kindOf(field, value), typedText(field));
      } catch (error) {
        errors.set(field.name, sentenceOf(error));
      }
      if (field.name === '') Object.assign(input, value);
      else if (value !== undefined) input[field.name] = value;
    }
    return errors.size > 0 ? undefined : input;
  }

  async function save(input = read()): Promise<void> {
    message = '';
    if (input === undefined) return fail();
    isBusy = true;
    refresh();
    try {
      await (stored === undefined ? create(input) : replace(stored, input));
    } catch (error) {
      message = sentenceOf(error);
      if (isApiProblem(error)) point(error.errors);
      fail();
    }
    isBusy = false;
    refresh();
  }

  async function create(input: object): Promise<void> {
    const body = JSON.stringify(input);
    if (sent.body !== body) sent = { body, key: `admin-${Math.random()}-${Date.now()}` };
    const made = await session[kind].create(input, { idempotencyKey: sent.key });
    take(made);
    tell('It is created.');
    if (!reads(kind)) return focus('h1');
    location.replace(href(`${kind}/${encodeURIComponent(made.record.id)}`));
  }

  async function replace({ record, version }: Versioned<Item>, input: object): Promise<void> {
    const at = conflict?.theirs.version ?? version;
    try {
      take(await session[kind].replace(record.id, input, { ifMatch: at }));
      tell('It is saved.');
    } catch (error) {
      if (!isApiProblem(error, 'version-mismatch')) throw error;
      const before = conflict?.theirs.record ?? record;
      const theirs = await session[kind].get(record.id);
      tell('');
      conflict = conflictOf(before, { ...input, id: record.id }, theirs, fields);
      focus('#conflict');
    }
  }

  /** Puts what is wrong to the fields where it is. */
  function point(entries: readonly object[]): void {
    for (const { pointer = '', message: text } of entries as {
      pointer?: string;
      message: string;
    }[]) {
      const key = unescaped(pointer.split('/')[1] ?? '');
      const name = fields.some((field) => field.name === key) ? key : '';
      const where = pointer === `/${name}` ? '' : `${pointer}: `;
      errors.set(name, `${errors.get(name) ?? ''} ${where}${text}`.trim());
    }
  }

  function fail(): void {
    const count = errors.size === 1 ? 'a field' : `${errors.size} fields`;
    if (errors.size > 0) message = `It is not saved: something is wrong in ${count}.`;
    refresh();
    focus(errors.size > 0 && !conflict ? '[aria-invalid=true]' : '.alert');
  }

  function leave(): void {
    if (conflict !== undefined) take(conflict.theirs);
    tell('It stays as somebody else saved it.');
  }

  function facts({ record: { id, createdAt, updatedAt }, version }: Versioned<Item>): Html {
    const changed = updatedAt === undefined ? '' : html` · Changed ${time(updatedAt)}`;
    return html`<p class="soft facts"><code>${id}</code> · Created ${time(createdAt)}${changed}
      ${version > 0 ? `· Version ${version}` : ''}</p>`;
  }

  function form(): Html {
    const may = stored === undefined || changes(kind, stored.record);
    const submit = (event: Event) => {
      event.preventDefault();
      void save();
    };
    const shown = (field: Field): Html => {
      const value = given(field);
      // Who may write no other's posts chooses no author.
      const isFixed = field.kind === 'author' && !session.has('posts:write');
      if (stored === undefined ? isFixed : !may && value === undefined) return '';
      const set = (text: string) => {
        texts.set(field.name, text);
        refresh();
      };
      const error = errors.get(field.name) ?? '';
      const parts = { field, kind: kindOf(field, value), error, isDisabled: !may || isFixed };
      return control({ ...parts, text: typedText(field), stored: value, set });
    };
    const buttons = html`<div class="bar"><button class="primary" ?disabled=${isBusy}>${stored ? 'Save' : 'Create'}</button>
      ${deletion?.button() ?? ''}</div>`;
    return html`<form class="record" @submit=${submit} novalidate autocomplete="off">
      ${fields.map(shown)} ${may ? buttons : ''}</form>`;
  }

  return {
    get title() {
      return stored === undefined ? fresh : String(stored.record[title]);
    },
    isChanged: () => fields.some(isTyped),
    show() {
      const shown = conflict;
      return html`<p class="back">${reads(kind) ? html`<a href=${href(kind)}>← ${many}</a>` : ''}</p>
        <h1 tabindex="-1">${this.title}</h1> ${stored ? facts(stored) : ''} ${alertOf(message)}
        ${shown ? shown.show(() => save(shown.merged()), leave) : form()}
        ${posts?.show() ?? ''} ${deletion?.show() ?? ''}`;
    },
  };
}
