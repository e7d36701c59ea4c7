// Tests how `/admin` derives its forms from the OpenAPI description, and converts between values and text.

import { expect } from 'chai';
import fc from 'fast-check';
import type { Description } from '../src/page/description.ts';
import {
  controlOf,
  elementsIn,
  type Field,
  formsOf,
  instantOf,
  isNamed,
  listOf,
  localOf,
  parse,
  textOf,
  textOfList,
  titleOf,
  valueIn,
} from '../src/page/fields.ts';

const properties = {
  id: { type: 'string' },
  title: { type: 'string', maxLength: 300 },
  body: { type: 'string', maxLength: 100_000 },
  authorId: { type: ['string', 'null'] },
  publishedAt: { type: ['string', 'null'] },
  section: { $ref: '#/components/schemas/a~1section' },
  viewCount: { type: 'integer', description: 'How often it was read.' },
  pinned: { type: 'boolean' },
  summary: { type: ['null', 'string'], maxLength: 1000 },
  constructor: { type: 'string' },
  slug: { type: ['string', 'null'], maxLength: 1000 },
  year: { type: ['number', 'null'] },
  tags: { type: ['array', 'null'], items: { type: 'string', maxLength: 200 } },
  keywords: { type: 'array', items: { type: 'string' } },
  grades: { type: 'array', items: { type: 'integer' } },
};
const list = {
  get: {
    parameters: ['limit', 'name', 'title'].map((name) => ({ name, in: 'query' })),
  },
};
const posts = [
  ...['limit', 'authorId', 'title[startsWith]'].map((name) => ({ name })),
  { name: 'section', schema: { type: 'string' } },
  { name: 'sort', schema: { enum: ['title', '-title', 'year', '-year'] } },
  { name: 'slug', schema: { type: 'string' } },
  { name: 'year', schema: { type: 'number' } },
  { name: 'year[gte]', schema: { type: 'number' } },
  { name: 'pinned', schema: { type: 'boolean' } },
  { name: 'tags', schema: { type: 'array' } },
].map((parameter) => ({ ...parameter, in: 'query' }));
const forms = formsOf({
  paths: {
    '/users': list,
    '/posts': { get: { parameters: [...posts, { name: 'X', in: 'header' }] } },
  },
  components: {
    schemas: {
      UserInput: { properties: { name: { type: 'string' } }, required: ['name'] },
      PostInput: { properties, required: ['title', 'keywords'] },
      'a/section': { enum: ['news', 'essays', null], title: 'Department' },
    },
  },
} as unknown as Description);
const { fields } = forms.posts;
const fieldOf = (name: string) => fields.find((field) => field.name === name) as Field;

describe('the forms of /admin', () => {
  it('have the described fields, and one JSON field for the others', () => {
    const controls = fields.map(({ name, control }) => [name, control]);
    expect(Object.fromEntries(controls)).to.deep.equal({
      ...{ title: 'line', body: 'long', authorId: 'author', publishedAt: 'publication' },
      ...{ section: 'choice', viewCount: 'number', pinned: 'choice', summary: 'long' },
      ...{ constructor: 'line', slug: 'line', year: 'number', tags: 'list' },
      ...{ keywords: 'list', grades: 'json', '': 'json' },
    });
    expect(fieldOf('section')).to.include({ label: 'Department' });
    expect(fieldOf('viewCount')).to.include({
      label: 'View Count',
      hint: 'How often it was read.',
    });
    expect(fieldOf('title').isRequired).to.equal(true);
  });

  it('have the declared fields with their types, and whether lists can be sorted by them', () => {
    const told = forms.posts.declared.map(({ choices, label, ...one }) => one);
    expect(told).to.deep.equal([
      { name: 'section', type: 'string', isSortable: false },
      { name: 'slug', type: 'string', isSortable: false },
      { name: 'year', type: 'number', isSortable: true },
      { name: 'pinned', type: 'boolean', isSortable: false },
      { name: 'tags', type: 'array', isSortable: false },
    ]);
    expect(forms.posts.declared[0]).to.include({ label: 'Department' });
    // For users, unlike posts, "title" is a custom field.
    expect(forms.users.declared.map(({ name }) => name)).to.deep.equal(['title']);
  });

  it('preserve values when they are shown and parsed again', () => {
    const isText = (text: string) => text.trim() !== '';
    const values = fc.oneof(
      fc.string().filter(isText),
      fc.array(fc.string(), { minLength: 1 }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.constantFrom(...fields), values, (field, value) => {
        const isEmpty = value === null || value === '' || (field.name === '' && !isObject(value));
        fc.pre(field.control !== 'list' || !Array.isArray(value) || value.length > 0);
        fc.pre(!isEmpty && (typeof value !== 'string' || isText(value)));
        const control = controlOf(field, value);
        expect(parse(field, control, textOf(control, value))).to.deep.equal(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });

  it('show a stored value of another type as JSON', () => {
    expect(controlOf(fieldOf('viewCount'), 'many')).to.equal('json');
    expect(controlOf(fieldOf('title'), 12)).to.equal('json');
    expect(controlOf(fieldOf('viewCount'), 12)).to.equal('number');
    expect(controlOf(fieldOf('viewCount'), undefined)).to.equal('number');
    expect(controlOf(fieldOf('title'), ['Of two\nlines'])).to.equal('json');
    expect(controlOf(fieldOf('title'), { toString: 0 })).to.equal('json');
    for (const value of ['a, b', ['a', 1]])
      expect(controlOf(fieldOf('tags'), value)).to.equal('json');
    expect(controlOf(fieldOf('tags'), ['a\nb', ''])).to.equal('list');
  });

  it('show stored text with line breaks in a multi-line field', () => {
    expect(controlOf(fieldOf('title'), 'Of two\nlines')).to.equal('long');
  });

  it('save what is typed for a list with its elements', () => {
    const all = ['a, "b"', 'a\nb'];
    const text = textOfList({ all, typing: ' c ' });
    expect(listOf(text)).to.deep.equal({ all, typing: ' c ' });
    expect(parse(fieldOf('tags'), 'list', text)).to.deep.equal([...all, 'c']);
    expect(elementsIn(' a,b , ,a')).to.deep.equal(['a', 'b', 'a']);
  });

  it('parse empty input as the empty value of the field', () => {
    const read = (name: string) => parse(fieldOf(name), fieldOf(name).control, ' ');
    expect([read('title'), read('body')]).to.deep.equal(['', '']);
    expect(read('authorId')).to.equal(null);
    for (const name of ['viewCount', 'section', 'tags', 'grades', ''])
      expect(read(name)).to.equal(undefined);
    expect(read('keywords')).to.deep.equal([]);
  });

  it('reject invalid input with a message', () => {
    const refusal = (name: string, text: string) => () =>
      parse(fieldOf(name), fieldOf(name).control, text);
    for (const text of ['many', 'Infinity', '1e999', '1,5']) {
      expect(refusal('viewCount', text)).to.throw('This is not a number.');
    }
    expect(refusal('grades', '[1,')).to.throw('This is not JSON');
    for (const text of ['[]', '1', 'null']) {
      expect(refusal('', text)).to.throw('This must be a JSON object');
    }
  });

  it('show times to the minute, and parse only complete ones', () => {
    for (const local of ['1925-07-01T12:30', '2026-03-29T12:30', '9999-06-01T00:00'])
      expect(localOf(instantOf(local))).to.equal(local);
    for (const part of ['', '0020-06-30T10:30', '+010000-01-01T00:00'])
      expect(instantOf(part), part).to.equal('');
    for (const none of ['+010000-01-02T00:00:00.000Z', 'draft'])
      expect(localOf(none), none).to.equal('');
  });

  it('show the id as the title of a record with an invisible name', () => {
    for (const title of ['', ' ', '\u200b\u2060', '\u3164', '\u2800', '\u0301', undefined])
      expect(titleOf({ id: '7', title }, 'title')).to.equal('7');
    for (const title of ['A', '1', '?', '😀', 'e\u0301', '本'])
      expect(titleOf({ id: '7', title }, 'title')).to.equal(title);
  });

  it('exclude named fields from the JSON field for the others', () => {
    const record = { id: '1', title: 'A', constructor: 'b', colour: 'blue', createdAt: '2026' };
    expect(valueIn(record, fieldOf(''), fields)).to.deep.equal({ colour: 'blue' });
    expect(valueIn(record, fieldOf('constructor'), fields)).to.equal('b');
    const named = ['colour', 'title', 'createdAt'].filter((name) => isNamed(name, fields));
    expect(named).to.deep.equal(['title', 'createdAt']);
  });
});

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
