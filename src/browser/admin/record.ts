import { html, nothing, type TemplateResult } from 'lit-html';
import { isApiProblem, type Versioned } from 'rostrum-client';
import { Conflict } from './conflict.ts';
import { control } from './control.ts';
import { type Field, type Form, kindOf, parse, textOf, valueIn } from './fields.ts';
import { List } from './list.ts';
import { alertOf, focus, href, refresh, sentenceOf, tell, time, type View } from './page.ts';
import { Removal } from './removal.ts';
import type { Item, Kind, Session } from './session.ts';

/** A record in a form: a new one, or one that is stored. */
export class RecordView implements View {
  readonly #session: Session;
  readonly #kind: Kind;
  readonly #form: Form;
  readonly #forms: Record<Kind, Form>;
  #stored: Versioned<Item> | undefined;
  /** What was typed, by the names of fields. */
  #texts = new Map<string, string>();
  #errors = new Map<string, string>();
  #message = '';
  #isBusy = false;
  #conflict: Conflict | undefined;
  #posts: List | undefined;
  #removal: Removal | undefined;
  /** A form that is sent again, because no response came, makes one record. */
  #sent = { body: '', key: '' };

  private constructor(session: Session, kind: Kind, forms: Record<Kind, Form>) {
    this.#session = session;
    this.#kind = kind;
    this.#form = forms[kind];
    this.#forms = forms;
  }

  /** @param author of the new post */
  static make(session: Session, kind: Kind, forms: Record<Kind, Form>, author: string): RecordView {
    const view = new RecordView(session, kind, forms);
    if (author !== '') view.#texts.set('authorId', author);
    return view;
  }

  /** @throws ApiProblem where it is not there */
  static async open(
    session: Session,
    kind: Kind,
    forms: Record<Kind, Form>,
    id: string,
  ): Promise<RecordView> {
    const view = new RecordView(session, kind, forms);
    view.#take(await session[kind].get(id));
    return view;
  }

  get title(): string {
    if (this.#stored === undefined) return this.#kind === 'users' ? 'New user' : 'New post';
    const { name, title } = this.#stored.record;
    return String(this.#kind === 'users' ? name : title);
  }

  isChanged(): boolean {
    return this.#stored === undefined
      ? this.#texts.size > 0
      : this.#form.fields.some((field) => this.#isTyped(field));
  }

  #take(stored: Versioned<Item>): void {
    this.#stored = stored;
    this.#texts = new Map();
    this.#errors = new Map();
    this.#conflict = undefined;
    this.#message = '';
    const { record } = stored;
    const isOfUser = this.#kind === 'users' && this.#session.reads('posts');
    if (isOfUser)
      this.#posts ??= new List(this.#session, 'posts', this.#forms.posts, { author: record.id });
    const mayDelete = this.#session.changes(this.#kind, record);
    this.#removal = mayDelete ? new Removal(this.#session, this.#kind, stored) : undefined;
  }

  #valueOf(field: Field): unknown {
    return valueIn(this.#stored?.record, field, this.#form.fields);
  }

  #textOf(field: Field): string {
    const value = this.#valueOf(field);
    return this.#texts.get(field.name) ?? textOf(kindOf(field, value), value);
  }

  #isTyped(field: Field): boolean {
    const value = this.#valueOf(field);
    const text = this.#texts.get(field.name);
    return text !== undefined && text !== textOf(kindOf(field, value), value);
  }

  /** What is to be saved: as it is stored, with what was typed. Undefined where that cannot be read. */
  #input(): Record<string, unknown> | undefined {
    const input: Record<string, unknown> = {};
    this.#errors = new Map();
    for (const field of this.#form.fields) {
      let value = this.#valueOf(field);
      const isNew = this.#stored === undefined && field.isRequired;
      try {
        if (isNew || this.#isTyped(field))
          value = parse(field, kindOf(field, value), this.#textOf(field));
      } catch (error) {
        this.#errors.set(field.name, sentenceOf(error));
      }
      if (field.name === '') Object.assign(input, value);
      else if (value !== undefined) input[field.name] = value;
    }
    return this.#errors.size > 0 ? undefined : input;
  }

  async #save(input = this.#input()): Promise<void> {
    this.#message = '';
    if (input === undefined) return this.#fail();
    this.#isBusy = true;
    refresh();
    try {
      if (this.#stored === undefined) await this.#create(input);
      else await this.#replace(this.#stored, input);
    } catch (error) {
      this.#message = sentenceOf(error);
      if (isApiProblem(error)) this.#point(error.errors);
      this.#fail();
    } finally {
      this.#isBusy = false;
      refresh();
    }
  }

  async #create(input: object): Promise<void> {
    const body = JSON.stringify(input);
    if (this.#sent.body !== body)
      this.#sent = { body, key: `admin-${Math.random()}-${Date.now()}` };
    const made = await this.#session[this.#kind].create(input, { idempotencyKey: this.#sent.key });
    this.#take(made);
    tell('It is created.');
    const path = href(`${this.#kind}/${encodeURIComponent(made.record.id)}`);
    if (this.#session.reads(this.#kind)) location.replace(path);
    else focus('h1');
  }

  async #replace({ record, version }: Versioned<Item>, input: object): Promise<void> {
    const resource = this.#session[this.#kind];
    const at = this.#conflict?.versions.version ?? version;
    try {
      this.#take(await resource.replace(record.id, input, { ifMatch: at }));
      tell('It is saved.');
    } catch (error) {
      if (!isApiProblem(error, 'version-mismatch')) throw error;
      const now = await resource.get(record.id);
      const mine = { ...input, id: record.id };
      const before = this.#conflict?.versions.theirs ?? record;
      const versions = { before, mine, theirs: now.record, version: now.version };
      this.#conflict = new Conflict(versions, this.#form.fields);
      focus('#conflict');
    }
  }

  /** Puts what is wrong to the fields where it is. */
  #point(entries: readonly object[]): void {
    for (const entry of entries as { pointer?: string; message: string }[]) {
      const [, first = ''] = entry.pointer?.split('/') ?? [];
      const key = first.replaceAll('~1', '/').replaceAll('~0', '~');
      const name = this.#form.fields.some((field) => field.name === key) ? key : '';
      const where = entry.pointer === `/${name}` ? '' : `${entry.pointer}: `;
      this.#errors.set(
        name,
        [this.#errors.get(name), where + entry.message].filter(Boolean).join(' '),
      );
    }
  }

  #fail(): void {
    const count = this.#errors.size;
    const fields = count === 1 ? 'a field' : `${count} fields`;
    if (count > 0) this.#message = `It is not saved: something is wrong in ${fields}.`;
    refresh();
    focus(count > 0 && !this.#conflict ? '[aria-invalid=true]' : '.alert');
  }

  #leave(): void {
    const theirs = this.#conflict?.versions;
    if (theirs !== undefined)
      this.#take({ record: theirs.theirs, version: theirs.version, etag: '' });
    tell('It stays as somebody else saved it.');
  }

  show(): TemplateResult {
    const record = this.#stored?.record;
    const may = record === undefined || this.#session.changes(this.#kind, record);
    const submit = (event: Event) => {
      event.preventDefault();
      void this.#save();
    };
    const list = this.#session.reads(this.#kind)
      ? html`<a href=${href(this.#kind)}>← ${this.#kind === 'users' ? 'Users' : 'Posts'}</a>`
      : '';
    const button = this.#stored === undefined ? 'Create' : 'Save';
    const form = html`<form class="record" @submit=${submit} novalidate autocomplete="off">
      ${this.#form.fields.map((field) => this.#control(field, may))}
      ${may ? html`<div class="bar"><button class="primary" ?disabled=${this.#isBusy}>${button}</button>${this.#removal?.button() ?? ''}</div>` : ''}
      </form>`;
    const conflict = this.#conflict;
    return html`<p class="back">${list}</p><h1 tabindex="-1">${this.title}</h1>
      ${record ? this.#facts(record) : ''} ${alertOf(this.#message)}
      ${
        conflict
          ? conflict.show(
              () => this.#save(conflict.merged()),
              () => this.#leave(),
            )
          : form
      }
      ${this.#posts?.show() ?? ''} ${this.#removal?.show() ?? ''}`;
  }

  #facts({ id, createdAt, updatedAt }: Item): TemplateResult {
    const changed = updatedAt === undefined ? '' : html` · Changed ${time(updatedAt)}`;
    const version = this.#stored?.version ? ` · Version ${this.#stored.version}` : '';
    return html`<p class="soft facts"><code>${id}</code> · Created ${time(createdAt)}${changed}${version}</p>`;
  }

  #control(field: Field, may: boolean): TemplateResult | typeof nothing {
    const value = this.#valueOf(field);
    if (!may && value === undefined) return nothing;
    const error = this.#errors.get(field.name) ?? '';
    const isFixed = field.kind === 'author' && !this.#session.choosesAuthors;
    if (isFixed && this.#stored === undefined) return nothing;
    const kind = kindOf(field, value);
    const set = (text: string) => {
      this.#texts.set(field.name, text);
      refresh();
    };
    const parts = { field, kind, error, isDisabled: !may || isFixed, session: this.#session };
    return control({ ...parts, text: this.#textOf(field), stored: value, set });
  }
}
