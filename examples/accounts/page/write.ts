// The form of a post, and what happens when someone else saves the post at the same time.

import { isApiProblem, type Versioned } from 'rostrum-client';
import { button, onSubmit, unsaved } from './actions.ts';
import { tagField } from './chips.ts';
import { badge, bar, field, h, input, link, say, submit } from './dom.ts';
import { imageButton, previewButton } from './media.ts';
import { merge } from './merge.ts';
import { addressOf, canPublish, linkTo, stateOf } from './posts.ts';
import { api, type Post } from './session.ts';

type Saved = Versioned<Post>;
/** The texts of the form, by the names of its fields. */
type Texts = Readonly<Record<string, string>>;

/** A part of an address between hyphens. */
const word = '[\\p{Ll}\\p{Lo}\\p{M}\\p{N}]+';

export const edit = async (id: string) => form(await api.posts.get(id));
export const write = async () => form();

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
    slug: field('Address (the end of /posts/…)', slug),
    tags: tags.element,
    body: field(opened && format() === 'html' ? 'Text (HTML)' : 'Text (Markdown)', body),
  };
  const state = h('div', { className: 'row' });
  const preview = h('div', {});
  const tools = bar(
    imageButton(body, () => format() === 'markdown'),
    previewButton(() => body.value, format, preview),
  );
  const schedule = field('Publish at (now, if empty)', when);
  const buttons = bar();
  const element = h('form', {}, ...Object.values(fields), tools, preview, schedule, buttons);

  const typed = (): Texts => Object.fromEntries(controls.map(({ name, value }) => [name, value]));

  let isOwnSlug = Boolean(opened?.record.slug);
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
    const isDraft = saved === undefined || now === 'Draft';
    const hint = isDraft ? 'An editor publishes it.' : 'Make it a draft to change it.';
    schedule.hidden = isPublic === true || !canPublish();
    state.replaceChildren(
      now ? badge(now) : '',
      saved && isPublic ? link(addressOf(saved.record), 'View') : '',
      canPublish() ? '' : hint,
    );
    const save = submit(isDraft ? 'Save draft' : 'Save', { className: isPublic ? 'primary' : '' });
    buttons.replaceChildren(
      isDraft || canPublish() ? save : '',
      canPublish() && !isPublic ? submit('Publish', { value: 'public' }) : '',
      isDraft ? '' : submit('Make a draft', { value: 'draft', className: '' }),
      saved ? button('Delete', remove, 'bad') : '',
    );
  }

  async function save(pressed: string): Promise<void> {
    if (element.querySelector('.theirs')) throw new Error('Choose between the texts below first.');
    const sent = typed();
    const time = when.value === '' ? new Date() : new Date(when.value);
    const publishedAt = pressed === 'public' ? time.toISOString() : null;
    const input = {
      ...inputOf(sent),
      ...formerSlugs(sent.slug ?? ''),
      ...(pressed !== '' && { publishedAt }),
    };
    const saving = saved
      ? api.posts.patch(saved.record.id, input, { ifMatch: saved.version })
      : api.posts.create({ publishedAt: null, format: 'markdown', ...input });
    saved = await saving.catch(recover);
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
    await api.posts.delete(saved.record.id, { ifMatch: saved.version }).catch(recover);
    unsaved.check = () => false;
    location.hash = '#/';
  }

  /** Keeps what was typed if someone else has changed or deleted the post. Throws an error that says what to do. */
  async function recover(error: unknown): Promise<never> {
    if (isApiProblem(error, 'post-not-found')) {
      saved = undefined;
      base = {};
      showState();
      throw new Error('Someone deleted this post. Save it to create it again.');
    }
    if (!isApiProblem(error, 'version-mismatch') || saved === undefined) throw error;
    take(await api.posts.get(saved.record.id), base);
    const todo = element.querySelector('.theirs')
      ? 'Both changed some lines: choose below, then save.'
      : 'Those changes are in the form now: look at them, then save.';
    throw new Error(`This post was saved elsewhere meanwhile. ${todo}`);
  }

  /** Takes a version of the post into the form. What was typed since `before` stays. */
  function take(version: Saved, before: Texts): void {
    saved = version;
    base = textsOf(version);
    when.value = localTime(version.record.publishedAt);
    showState();
    for (const old of element.querySelectorAll('.theirs')) old.remove();
    for (const control of controls) {
      const { name, value } = control;
      const merged = merge(before[name], value, base[name]);
      control.value = merged.mine;
      if (merged.conflicts.length > 0) fields[name]?.append(choice(control, merged));
    }
  }

  /** Lets the author choose between their lines and those that were saved elsewhere. */
  function choice(control: { value: string }, merged: ReturnType<typeof merge>) {
    const { mine, theirs, conflicts } = merged;
    const use = async () => {
      // What was typed into other lines since then stays.
      control.value = merge(mine, control.value, theirs).mine;
      box.remove();
    };
    const replace = async () => {
      box.remove();
      say('When you save, your text replaces the one that was saved elsewhere.');
    };
    const show = (title: string, lines: readonly string[]) => [
      h('p', {}, title),
      h('pre', { tabIndex: 0 }, lines.join('\n') || '(nothing)'),
    ];
    const box = h(
      'div',
      { className: 'theirs' },
      ...conflicts.flatMap(({ a, b }) => [...show('Yours:', a), ...show('Saved elsewhere:', b)]),
      button('Use the saved text', use),
      button('Replace it with mine', replace),
    );
    return box;
  }

  base = textsOf(saved);
  for (const control of controls) control.value = base[control.name] ?? '';
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
  return { title, slug: slug ?? slugOf(title), tags: tags?.join('\n') ?? '', body: lines };
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
