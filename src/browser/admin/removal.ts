import { html, type TemplateResult } from 'lit-html';
import { isApiProblem, type Versioned } from 'rostrum-client';
import { alertOf, focus, href, refresh, sentenceOf, tell } from './page.ts';
import type { Item, Kind, Session } from './session.ts';

/** The deletion of a record: asked for twice, and with a choice for the posts of a user. */
export class Removal {
  readonly #session: Session;
  readonly #kind: Kind;
  readonly #stored: Versioned<Item>;
  /** How many posts the user has, once the server said that there are some; -1 for an unknown number. */
  #posts = 0;
  #error = '';
  #isBusy = false;

  constructor(session: Session, kind: Kind, stored: Versioned<Item>) {
    this.#session = session;
    this.#kind = kind;
    this.#stored = stored;
  }

  button(): TemplateResult {
    const open = () => {
      this.#posts = 0;
      this.#error = '';
      refresh();
      document.querySelector<HTMLDialogElement>('#removal')?.showModal();
    };
    return html`<button type="button" class="bad" @click=${open}>Delete…</button>`;
  }

  async #delete(posts?: 'keep' | 'delete'): Promise<void> {
    const { record, version } = this.#stored;
    this.#isBusy = true;
    refresh();
    try {
      await this.#session[this.#kind].delete(record.id, { ifMatch: version, posts });
      document.querySelector<HTMLDialogElement>('#removal')?.close();
      location.hash = href(this.#session.reads(this.#kind) ? this.#kind : '');
      tell('It is deleted.');
    } catch (error) {
      if (isApiProblem(error, 'user-has-posts')) this.#posts = error.details.posts ?? -1;
      this.#error = isApiProblem(error, 'version-mismatch')
        ? 'Somebody else changed it meanwhile: open it again, and look before you delete it.'
        : sentenceOf(error);
      if (this.#posts !== 0 && this.#session.changesPostsOf(record.id)) this.#error = '';
      focus('#removal h2');
    } finally {
      this.#isBusy = false;
      refresh();
    }
  }

  show(): TemplateResult {
    const { id, name, title } = this.#stored.record;
    const close = () => document.querySelector<HTMLDialogElement>('#removal')?.close();
    const button = (text: string, posts?: 'keep' | 'delete') =>
      html`<button type="button" class="bad" ?disabled=${this.#isBusy} @click=${() => this.#delete(posts)}>${text}</button>`;
    const asks = this.#posts !== 0 && this.#session.changesPostsOf(id);
    const count =
      this.#posts > 0 ? `${this.#posts} ${this.#posts === 1 ? 'post' : 'posts'}` : 'posts';
    return html`<dialog id="removal" aria-labelledby="removal-title">
      <h2 id="removal-title" tabindex="-1">${asks ? `${name} has ${count}` : `Delete “${name ?? title}”?`}</h2>
      ${alertOf(this.#error)}
      <p>${asks ? 'What is to become of them? Kept posts have no author afterwards.' : 'It is gone for good then.'}</p>
      <div class="bar">${
        asks
          ? html`${button('Delete the user and keep the posts', 'keep')}${button('Delete the posts too', 'delete')}`
          : button('Delete')
      }<button type="button" @click=${close}>Cancel</button></div></dialog>`;
  }
}
