// The form of a post, and what happens when someone else saves the post at the same time.

import { isApiProblem, type Versioned } from 'rostrum-client';
import { button, onSubmit, unsaved } from './actions.ts';
import { tagField } from './chips.ts';
import { badge, field, h, input, link, say, submit } from './dom.ts';
import { imageButton, previewButton } from './media.ts';
import { merge, type Texts } from './merge.ts';
import { addressOf, linkTo, stateOf } from './posts.ts';
import { api, type Post } from './session.ts';

type Saved = Versioned<Post>;

/** A part of an address between hyphens. */
const word = '[\\p{Ll}\\p{Lo}\\p{M}\\p{N}]+';

export async function edit(id: string): Promise<Node[]> {
  return form(await api.posts.get(id));
}

export async function write(): Promise<Node[]> {
  return form();
}

function form(opened?: Saved): Node[] {
  /** The post as the form knows it. A new post has none. */
  let saved = opened;
  /** The texts as they were when the post was read. */
  let base: Texts;

  /** Imported posts are HTML, and stay so. */
  const format = () => (saved && saved.record.format !== 'markdown' ? 'html' : 'markdown');

  const title = input('title', { required: true, maxLength: 300 });
  const slug = input('slug', {
    required: true,
    maxLength: 100,
    pattern: `${word}(-${word})*`,
    title: 'Small letters and digits, with hyphens between words.',
  });
  const tags = tagField('tags');
  const when = input('publishedAt', { type: 'datetime-local' });
  const body = h('textarea', { name: 'body', className: 'long' });
  const controls = [title, slug, tags, body];
  const fields: Readonly<Record<string, HTMLElement>> = {
    title: field('Title', title),
    slug: field('Address', slug),
    tags: tags.element,
    body: field(opened && format() === 'html' ? 'Text (HTML)' : 'Text (Markdown)', body),
  };
  const state = h('div', { className: 'row' });
  const preview = h('div', {});
  const tools = h(
    'div',
    { className: 'bar' },
    imageButton(body, () => format() === 'markdown'),
    previewButton(() => body.value, format, preview),
  );
  const schedule = field('Publish at (now, if empty)', when);
  const buttons = h('div', { className: 'bar' });
  const element = h('form', {}, ...Object.values(fields), tools, preview, schedule, buttons);

  const typed = (): Texts => Object.fromEntries(controls.map(({ name, value }) => [name, value]));
  const fill = (texts: Texts) => {
    for (const control of controls) control.value = texts[control.name] ?? '';
  };

  let isOwnSlug = opened !== undefined;
  slug.oninput = () => {
    isOwnSlug = slug.value !== '';
  };
  title.oninput = () => {
    if (!isOwnSlug) slug.value = slugOf(title.value);
  };

  /** Shows the state of the post, and what can be done with it. */
  function showState(): void {
    const now = saved && stateOf(saved.record);
    const isPublic = saved && now === undefined;
    schedule.hidden = isPublic === true;
    state.replaceChildren(
      ...(now ? [badge(now)] : []),
      ...(saved && isPublic ? [link(addressOf(saved.record), 'View')] : []),
    );
    buttons.replaceChildren(
      ...(isPublic
        ? [submit('Save'), submit('Make a draft', { value: 'draft', className: '' })]
        : [
            submit(now === 'Scheduled' ? 'Save' : 'Save draft', { className: '' }),
            submit('Publish', { value: 'public' }),
            ...(now === 'Scheduled'
              ? [submit('Make a draft', { value: 'draft', className: '' })]
              : []),
          ]),
      ...(saved ? [button('Delete', remove, 'bad')] : []),
    );
  }

  async function save(pressed: string): Promise<void> {
    const sent = typed();
    const time = when.value === '' ? new Date() : new Date(when.value);
    const publishedAt = pressed === 'public' ? time.toISOString() : null;
    const input = {
      ...inputOf(sent),
      ...formerSlugs(sent.slug ?? ''),
      ...(pressed !== '' && { publishedAt }),
    };
    try {
      saved = saved
        ? await api.posts.patch(saved.record.id, input, { ifMatch: saved.version })
        : await api.posts.create({ publishedAt: null, format: 'markdown', ...input });
    } catch (error) {
      return recover(error);
    }
    take(saved, sent);
    // Not if someone has left the form meanwhile.
    if (!element.isConnected) return;
    history.replaceState(null, '', linkTo('edit', saved.record.id));
    const done = stateOf(saved.record) ? 'Scheduled.' : 'Published.';
    say(pressed === 'public' ? done : 'Saved.');
  }

  /** The old address of a public post redirects to the new one. */
  function formerSlugs(slug: string) {
    const { record } = saved ?? {};
    if (!record?.slug || record.slug === slug || stateOf(record) !== undefined) return {};
    const former = (record.formerSlugs ?? []).filter((one) => one !== slug && one !== record.slug);
    return { formerSlugs: [...former, record.slug].slice(-50) };
  }

  async function remove(): Promise<void> {
    if (saved === undefined || !confirm('Delete this post?')) return;
    try {
      await api.posts.delete(saved.record.id, { ifMatch: saved.version });
    } catch (error) {
      return recover(error);
    }
    unsaved.check = () => false;
    location.hash = '#/';
  }

  /** Keeps what was typed if someone else has changed or deleted the post, and says what to do. */
  async function recover(error: unknown): Promise<void> {
    if (isApiProblem(error, 'post-not-found')) {
      saved = undefined;
      base = {};
      showState();
      throw new Error('Someone deleted this post. Save it to create it again.');
    }
    if (!isApiProblem(error, 'version-mismatch') || saved === undefined) throw error;
    const conflicts = take(await api.posts.get(saved.record.id), base);
    throw new Error(
      conflicts.length > 0
        ? 'Someone else saved this post. Compare the texts below, then try again.'
        : 'Someone else saved this post. Their changes are in the form now: look at them, then try again.',
    );
  }

  /** Takes a version of the post into the form. What was typed since `before` stays. */
  function take(version: Saved, before: Texts): readonly string[] {
    saved = version;
    base = textsOf(version);
    when.value = localTime(version.record.publishedAt);
    const { texts, conflicts } = merge(before, typed(), base);
    fill(texts);
    showState();
    showTheirs(base, conflicts);
    return conflicts;
  }

  /** Shows what someone else saved, below each field that both have changed. */
  function showTheirs(theirs: Texts, conflicts: readonly string[]): void {
    for (const old of element.querySelectorAll('.theirs')) old.remove();
    for (const name of conflicts) {
      const text = theirs[name] ?? '';
      const use = async () => {
        fill({ ...typed(), [name]: text });
        box.remove();
      };
      const box = h(
        'div',
        { className: 'theirs' },
        h('p', {}, 'Saved by someone else:'),
        h('pre', { tabIndex: 0 }, text),
        button('Use this text', use),
      );
      fields[name]?.append(box);
    }
  }

  fill(textsOf(saved));
  base = typed();
  when.value = localTime(saved?.record.publishedAt);
  showState();
  unsaved.check = () => controls.some(({ name, value }) => value !== base[name]);
  onSubmit(element, (_, pressed) => save(pressed));
  return [h('h1', {}, saved ? 'Edit' : 'Write'), state, element];
}

function textsOf(saved?: Saved): Texts {
  const { title = '', slug, tags, body = '' } = saved?.record ?? {};
  // A textarea has no other line breaks.
  const lines = body.replace(/\r\n?/g, '\n');
  return { title, slug: slug ?? '', tags: tags?.join('\n') ?? '', body: lines };
}

function inputOf({ title = '', slug = '', tags = '', body = '' }: Texts) {
  return { title, slug, tags: tags === '' ? [] : tags.split('\n'), body };
}

/** Returns an instant as an input of the type `datetime-local` takes it: without an offset. */
function localTime(instant: string | null | undefined): string {
  if (!instant) return '';
  const time = new Date(instant);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the words of a title as an address: `Über Bäume!` is `uber-baume`. */
function slugOf(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).join('-').slice(0, 100).replace(/-$/, '');
}
