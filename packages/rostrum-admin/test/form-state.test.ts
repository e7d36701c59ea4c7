// Tests how a form of the admin page handles typed text, saves by others, and lost responses.

import { expect } from 'chai';
import type { Versioned } from 'rostrum-client';
import type { Description } from '../src/page/description.ts';
import { type Field, formsOf, type Item } from '../src/page/fields.ts';
import * as state from '../src/page/form-state.ts';

const properties = {
  title: { type: 'string' },
  body: { type: 'string', maxLength: 100_000 },
  authorId: { type: ['string', 'null'] },
  publishedAt: { type: ['string', 'null'] },
  views: { type: 'integer' },
  tags: { type: 'array', items: { type: 'string' } },
};
const { fields } = formsOf({
  paths: {},
  components: { schemas: { PostInput: { properties, required: ['title'] } } },
} as unknown as Description).posts;
const fieldOf = (name: string) => fields.find((field) => field.name === name) as Field;

const stored = { id: '1', createdAt: '2026', updatedAt: '2026', title: 'A', body: 'B' };
const at = (version: number, changes: object = {}): Versioned<Item> => ({
  record: { ...stored, authorId: null, publishedAt: null, ...changes },
  version,
  etag: `"${version}"`,
});
const start = (changes = {}) => state.startForm(fields, at(1, changes));
const startNew = (author?: string) => state.startForm(fields, undefined, author);
const text = (form: state.FormState, name: string) => state.textIn(form, fieldOf(name));
const type = (form: state.FormState, texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).reduce((form, [name, text]) => state.typeText(form, name, text), form);
const merge = (form: state.FormState, now: Versioned<Item>) => state.merge(form, now).form;
const inputOf = (form: state.FormState) => {
  const { input, errors } = state.readInput(form);
  expect([...errors]).to.deep.equal([]);
  return input;
};
const errorsOf = (form: state.FormState) => Object.fromEntries(state.readInput(form).errors);
const noResponse = { outcome: 'unknown', errors: [], message: 'No response.' } as const;
const refused = { outcome: 'none', errors: [], message: 'Not allowed.' } as const;
const shown = new Set(fields.map(({ name }) => name));

describe('the form of the admin page', () => {
  describe('typed text', () => {
    it('is shown instead of the stored text', () => {
      expect(text(start(), 'title')).to.equal('A');
      expect(text(type(start(), { title: 'Mine' }), 'title')).to.equal('Mine');
    });

    it('counts as unsaved unless it equals the stored text', () => {
      expect(state.isUnsaved(start())).to.equal(false);
      const typed = type(start(), { title: 'Mine' });
      expect(state.isUnsaved(typed)).to.equal(true);
      expect(state.isUnsaved(type(typed, { title: 'A' }))).to.equal(false);
    });

    it('does not include the initial author of a new post', () => {
      expect(text(startNew('ada'), 'authorId')).to.equal('ada');
      expect(state.isUnsaved(startNew('ada'))).to.equal(false);
      expect(state.isUnsaved(type(startNew('ada'), { authorId: 'grace' }))).to.equal(true);
      expect(state.isUnsaved(type(startNew(), { authorId: 'ada' }))).to.equal(true);
    });

    it('clears the message about the last request', () => {
      const form = state.refuse(start(), refused, shown);
      expect(state.alertIn(form)).to.equal('Not allowed.');
      expect(state.alertIn(type(form, { title: 'Mine' }))).to.equal('');
    });
  });

  describe('the input that it saves', () => {
    it('is the stored record with the typed text', () => {
      const form = type(start({ views: 3, colour: 'blue' }), { title: 'Mine' });
      expect(inputOf(form)).to.deep.equal({
        ...{ title: 'Mine', body: 'B', authorId: null, publishedAt: null },
        ...{ views: 3, colour: 'blue' },
      });
    });

    it('preserves fields that were not edited, whatever their value', () => {
      const odd = { views: 'many', publishedAt: '+012026-01-01T00:00:00.000Z', body: '' };
      expect(inputOf(type(start(odd), { title: 'Mine' }))).to.deep.include(odd);
      for (const publishedAt of ['1925-07-01T12:00:00.500Z', '9999-12-31T23:59:59.999Z'])
        expect(inputOf(type(start({ publishedAt }), { title: 'Mine' }))).to.include({
          publishedAt,
        });
    });

    it('omits a field that was emptied', () => {
      expect(inputOf(type(start({ tags: ['a'] }), { tags: '' }))).not.to.have.property('tags');
      expect(inputOf(type(start({ views: 3 }), { views: '' }))).not.to.have.property('views');
      expect(inputOf(type(start({ colour: 'blue' }), { '': '' }))).not.to.have.property('colour');
    });

    it('has the required fields of a new record, as a draft', () => {
      expect(inputOf(startNew())).to.deep.equal({ title: '', publishedAt: null });
    });

    it('is rejected if a value cannot be parsed', () => {
      expect(errorsOf(type(start(), { views: 'many' }))).to.deep.equal({
        views: 'This is not a number.',
      });
    });

    it('is rejected if a time is incomplete', () => {
      expect(errorsOf(type(start(), { publishedAt: '' })).publishedAt).to.contain('whole date');
    });

    it('is rejected if the JSON for other fields contains a named or reserved field', () => {
      for (const name of ['title', 'createdAt', '__proto__'])
        expect(errorsOf(type(start(), { '': `{"${name}": 1}` }))).to.deep.equal({
          '': `"${name}" cannot be among these.`,
        });
    });
  });

  describe('a version that someone else saved', () => {
    it('is shown at once if nothing was typed', () => {
      const { form, result } = state.merge(start(), at(2, { title: 'Theirs' }));
      expect([result, text(form, 'title'), form.changes.size]).to.deep.equal([
        'replaced',
        'Theirs',
        0,
      ]);
      expect(state.alertIn(form)).to.equal('');
    });

    it('is ignored if it is not newer', () => {
      for (const version of [0, 1]) {
        const { form, result } = state.merge(start(), at(version, { title: 'Theirs' }));
        expect([result, text(form, 'title')]).to.deep.equal(['old', 'A']);
      }
    });

    it('updates fields that were not edited, without a choice', () => {
      const typed = type(start(), { title: 'Mine' });
      const { form, result } = state.merge(typed, at(2, { body: 'Theirs' }));
      expect([result, text(form, 'title'), text(form, 'body')]).to.deep.equal([
        ...['merged', 'Mine', 'Theirs'],
      ]);
      expect([...form.changes]).to.deep.equal([['body', { choice: 'theirs' }]]);
      expect(state.isUndecided(form)).to.equal(false);
      expect(state.alertIn(form)).to.contain('Check the form');
      expect(inputOf(form)).to.include({ title: 'Mine', body: 'Theirs' });
    });

    it('replaces text that was edited and then restored', () => {
      const typed = type(start(), { title: 'Mine', body: 'Mine' });
      const form = merge(type(typed, { body: 'B' }), at(2, { body: 'Theirs' }));
      expect(text(form, 'body')).to.equal('Theirs');
    });

    it('needs a choice for a field that both changed, and keeps both texts until then', () => {
      const form = merge(type(start(), { title: 'Mine' }), at(2, { title: 'Theirs' }));
      expect(text(form, 'title')).to.equal('Mine');
      expect(state.storedText(form, fieldOf('title'))).to.equal('Theirs');
      expect(form.changes.get('title')).to.deep.equal({ choice: 'open', mine: 'Mine' });
      expect(state.isUndecided(form)).to.equal(true);
      expect(state.alertIn(form)).to.contain('choose whose text');
    });

    it('needs no choice if both typed the same', () => {
      const typed = type(start(), { title: 'Same', body: 'Mine' });
      expect(state.isUndecided(merge(typed, at(2, { title: 'Same' })))).to.equal(false);
    });

    it('reopens an earlier choice if it changes the field again', () => {
      const once = merge(type(start(), { title: 'Mine' }), at(2, { title: 'Theirs' }));
      const chosen = state.choose(once, fieldOf('title'), 'mine');
      expect(state.isUndecided(merge(chosen, at(3, { title: 'Theirs', body: 'Other' })))).to.equal(
        false,
      );
      expect(state.isUndecided(merge(chosen, at(3, { title: 'Again' })))).to.equal(true);
    });

    it('does not clear an earlier error', () => {
      const typed = type(start(), { title: 'Mine' });
      const failed = state.refuse(state.send(typed, inputOf(typed)), refused, shown);
      expect(state.alertIn(merge(failed, at(2, { body: 'Theirs' })))).to.equal('Not allowed.');
    });
  });

  describe('the choice between two texts', () => {
    const title = fieldOf('title');
    const conflict = () => merge(type(start(), { title: 'Mine' }), at(2, { title: 'Theirs' }));

    it('can be changed until the form is saved', () => {
      const theirs = state.choose(conflict(), title, 'theirs');
      expect([text(theirs, 'title'), state.isUndecided(theirs)]).to.deep.equal(['Theirs', false]);
      const mine = state.choose(theirs, title, 'mine');
      expect([text(mine, 'title'), state.isUndecided(mine)]).to.deep.equal(['Mine', false]);
      expect(inputOf(mine)).to.include({ title: 'Mine' });
    });

    it('is not made by typing', () => {
      const form = type(conflict(), { title: 'Mine, longer' });
      expect(state.isUndecided(form)).to.equal(true);
      const kept = state.choose(state.choose(form, title, 'theirs'), title, 'mine');
      expect(text(kept, 'title')).to.equal('Mine, longer');
    });

    it('can return to my text after theirs was chosen and edited', () => {
      const edited = type(state.choose(conflict(), title, 'theirs'), { title: 'Theirs, longer' });
      expect(text(edited, 'title')).to.equal('Theirs, longer');
      expect(text(state.choose(edited, title, 'mine'), 'title')).to.equal('Mine');
    });

    it('clears the message that asked for it', () => {
      const asked = { ...conflict(), message: 'Choose.' };
      expect(state.choose(asked, title, 'mine').message).to.equal('');
    });
  });

  describe('a save', () => {
    it('keeps text typed during the request', () => {
      const typed = type(start(), { title: 'Sent', body: 'Sent' });
      const { sent, ...sending } = state.send(typed, inputOf(typed));
      const on = type({ ...sending, sent }, { body: 'Sent, and typed on' });
      const form = state.accept(on, at(2, { title: 'Sent', body: 'Sent' }), sent.texts);
      expect([...form.texts]).to.deep.equal([['body', 'Sent, and typed on']]);
      expect(inputOf(form)).to.include({ title: 'Sent', body: 'Sent, and typed on' });
    });

    it('clears conflicts, errors and messages', () => {
      const conflict = merge(type(start(), { title: 'Mine' }), at(2, { title: 'Theirs' }));
      const failed = state.showErrors(conflict, new Map([['title', 'Wrong.']]));
      const form = state.accept(failed, at(3, { title: 'Mine' }));
      expect([form.changes.size, form.errors.size, form.message, form.sent]).to.deep.equal([
        ...[0, 0, '', undefined],
      ]);
    });
  });

  describe('a request whose outcome is unknown', () => {
    const lost = (form: state.FormState) =>
      state.refuse(state.send(form, inputOf(form), 'key'), noResponse, shown);

    it('is recognized in the version that it created', () => {
      const form = lost(type(start(), { title: 'Sent ', views: '7', '': '{"n":1,"m":{"a":2}}' }));
      const saved = at(2, { title: 'Sent', views: 7, n: 1, m: { a: 2 } });
      const { form: next, result } = state.merge(form, saved);
      expect([result, state.isAnyTyped(next), next.sent]).to.deep.equal([
        'saved',
        false,
        undefined,
      ]);
    });

    it('keeps text typed afterwards', () => {
      const form = type(lost(type(start(), { title: 'Sent' })), { title: 'Typed on' });
      const merged = state.merge(form, at(2, { title: 'Sent' }));
      expect([merged.result, text(merged.form, 'title')]).to.deep.equal(['saved', 'Typed on']);
      expect(merged.form.changes.size).to.equal(0);
    });

    it('is not confused with a save by someone else', () => {
      const form = lost(type(start({ colour: 'blue' }), { '': '' }));
      expect(state.merge(form, at(2, { colour: 'red' })).result).to.equal('merged');
    });

    it('for a new record is resent unchanged with the same key', () => {
      const form = type(lost(type(startNew(), { title: 'Sent' })), { title: 'Typed on' });
      const { sent } = state.send(form, inputOf(form), 'another key');
      expect([sent.key, sent.input.title, sent.texts.get('title')]).to.deep.equal([
        ...['key', 'Sent', 'Sent'],
      ]);
    });

    it('for a stored record is resent with text typed since', () => {
      const form = type(lost(type(start(), { title: 'Sent' })), { title: 'Typed on' });
      expect(state.send(form, inputOf(form)).sent.input.title).to.equal('Typed on');
    });

    it('is forgotten once the server says that nothing was changed', () => {
      const form = state.refuse(lost(type(startNew(), { title: 'Sent' })), refused, shown);
      expect(state.send(form, {}, 'another key').sent.key).to.equal('another key');
    });
  });

  describe('an error', () => {
    const invalid = (...pointers: readonly string[]) => {
      const errors = pointers.map((pointer) => ({ pointer, message: `Wrong ${pointer}.` }));
      const names = new Set(['', 'title', 'a/b']);
      return state.refuse(start(), { outcome: 'none', errors, message: 'All.' }, names);
    };

    it('is shown at its field', () => {
      const form = invalid('/title', '/a~1b');
      expect(Object.fromEntries(form.errors)).to.deep.equal({
        title: 'Wrong /title.',
        'a/b': 'Wrong /a~1b.',
      });
      expect(state.alertIn(form)).to.equal('Not saved: something is wrong in 2 fields.');
    });

    it('inside a field is shown there with its pointer', () => {
      expect(invalid('/title/0').errors.get('title')).to.equal('/title/0: Wrong /title/0.');
    });

    it('of an element is shown at its list with the text that was sent', () => {
      const tags = ['a', 'b'.repeat(41)];
      const errors = [0, 1, 2].map((n) => ({ pointer: `/tags/${n}`, message: 'Wrong.' }));
      const refusal = { ...refused, errors };
      const form = state.refuse(state.send(start(), { tags }), refusal, shown);
      expect(form.errors.get('tags')).to.equal(
        `“a”: Wrong. “${'b'.repeat(40)}…”: Wrong. /tags/2: Wrong.`,
      );
    });

    it('in a hidden field is shown at the other custom fields', () => {
      const form = invalid('/authorId', '/hidden');
      expect(form.errors.get('')).to.equal('/authorId: Wrong /authorId. /hidden: Wrong /hidden.');
      expect(state.alertIn(form)).to.equal('Not saved: something is wrong in a field.');
    });

    it('of the whole request is shown above the form', () => {
      const form = state.refuse(invalid('/title'), refused, shown);
      expect([form.errors.size, state.alertIn(form)]).to.deep.equal([0, 'Not allowed.']);
    });

    it('is cleared by the next request', () => {
      const form = state.withoutErrors(invalid('/title'));
      expect([form.errors.size, form.message]).to.deep.equal([0, '']);
    });
  });

  describe('a record that someone deleted', () => {
    it('becomes a new record with the stored and typed values', () => {
      const failed = state.refuse(type(start(), { title: 'Mine' }), refused, shown);
      const form = state.markDeleted(failed, true);
      expect(form.base).to.equal(undefined);
      expect(inputOf(form)).to.deep.include({ title: 'Mine', body: 'B', publishedAt: null });
      expect(state.alertIn(form)).to.contain('deleted. “Create” creates');
      expect(state.alertIn(type(form, { title: 'Mine, longer' }))).to.contain('deleted.');
    });

    it('is not recreated with the key of an earlier update', () => {
      const typed = type(start(), { title: 'Mine' });
      const lost = state.refuse(state.send(typed, inputOf(typed), 'old'), noResponse, shown);
      const form = state.markDeleted(lost, true);
      expect(state.send(form, inputOf(form), 'new').sent.key).to.equal('new');
    });

    it('leaves no open choices', () => {
      const conflict = merge(type(start(), { title: 'Mine' }), at(2, { title: 'Theirs' }));
      expect(state.isUndecided(state.markDeleted(conflict, true))).to.equal(false);
    });

    it('stays on the page if nothing was typed or the user cannot create records', () => {
      for (const form of [
        state.markDeleted(start(), true),
        state.markDeleted(type(start(), { title: 'Mine' }), false),
      ]) {
        expect(form.base?.record.id).to.equal('1');
        expect(state.alertIn(form)).to.equal('This record has been deleted.');
      }
    });

    it('no longer counts as deleted after it was recreated', () => {
      const gone = state.markDeleted(type(start(), { title: 'Mine' }), true);
      const form = state.accept(gone, at(1, { title: 'Mine' }));
      expect([form.isDeleted, state.alertIn(form)]).to.deep.equal([false, '']);
    });
  });
});
