// A folder of Markdown files with front matter, as Hugo and Jekyll have them. TIME_ZONE is the time zone
// of times without one.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Read, Row, Transform } from 'rostrum/import';
import { parse as parseToml, TomlDate } from 'smol-toml';
import { parse as parseYaml } from 'yaml';

const timeZone = process.env.TIME_ZONE;

/** Front matter, in YAML (`---`), TOML (`+++`) or JSON, and the text behind it. */
function parts(text: string): { readonly front: Row; readonly body: string } {
  const marked = /^(---|\+\+\+)[^\S\n]*\n(.*?\n|)\1[^\S\n]*(?:\n|$)/s.exec(text);
  const [all = '', mark, front = ''] =
    marked ?? /^()(\{\n.*?\n\})[^\S\n]*(?:\n|$)/s.exec(text) ?? [];
  const body = text.slice(all.length).trim();
  if (all === '') return { front: {}, body };
  if (mark === '+++') return { front: parseToml(front), body };
  return { front: Object(mark === '---' ? parseYaml(front) : JSON.parse(front)), body };
}

/** Dates of TOML as they are written. */
function plain(value: unknown): unknown {
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function rowOf(folder: string, file: string): Row {
  const text = readFileSync(join(folder, file), 'utf8')
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n');
  try {
    const { front, body } = parts(text);
    return { ...(plain(front) as Row), file, body };
  } catch (error) {
    return { file, problem: (error as Error).message };
  }
}

/** The authors of a page, as `author` or `authors`: names, or objects with a name. */
function authorsOf({ author, authors, params }: Row): Row[] {
  const all = [authors ?? author ?? params?.authors ?? params?.author ?? []].flat();
  return all.map((one) => (typeof one === 'object' ? one : { name: one }));
}

const idOf = ({ name }: Row) => `${name}`.trim().toLowerCase().replace(/\s+/g, '-');

export const read: Read = (folder) => {
  const files = globSync('**/*.{md,markdown,mdown,html}', { cwd: folder }).sort();
  const pages = files.filter((file) => !/(?:^|[/\\])_index\./.test(file)); // Lists of Hugo.
  const posts = pages.map((file) => rowOf(folder, file.replaceAll('\\', '/')));
  const users = new Map(posts.flatMap(authorsOf).map((author) => [idOf(author), author]));
  return { users: users.values(), posts };
};

export const users: Transform = (row) => ({ ...row, id: idOf(row) });

const yes = (value: unknown) => /^(?:true|yes|on|1)$/i.test(`${value ?? ''}`);
const no = (value: unknown) => /^(?:false|no|off|0)$/i.test(`${value ?? ''}`);
/** A list, or a text: Jekyll splits it at spaces. */
const list = (value: unknown) =>
  typeof value === 'string' ? value.split(/[,\s]+/).filter(Boolean) : value;

export const posts: Transform = (row, { instant }) => {
  if (row.problem) throw new Error(`${row.file}: ${row.problem}`);
  const { file, title, slug, date, publishDate, expiryDate, draft, published, tags, ...rest } = row;
  const { author, authors, headless, build, ...fields } = rest;
  const name = file.replace(/(?:\/index)?\.\w+$/, '');
  const [, day, base = ''] = /([^/]*)$/.exec(name)?.[0].match(/^(\d{4}-\d\d-\d\d)?-?(.*)$/) ?? [];
  const time =
    publishDate ?? (no(published) || yes(published) ? undefined : published) ?? date ?? day;
  const isHidden = yes(draft) || no(published) || yes(headless) || /(?:^|\/)_drafts\//.test(file);
  const read = (value: unknown) => instant(value, { timeZone });
  const isOver = expiryDate != null && Date.parse(read(expiryDate)) < Date.now();
  const [first, ...others] = authorsOf(row).map(idOf);
  return {
    ...fields,
    id: name.replaceAll('/', '-'),
    title: title || base || name,
    slug: slug ?? base,
    tags: list(tags) ?? [],
    authorId: first,
    ...(others.length > 0 && { coAuthors: others }),
    ...(isHidden || isOver ? { publishedAt: null } : time != null && { publishedAt: read(time) }),
  };
};
