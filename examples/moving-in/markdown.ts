// A folder of Markdown files with front matter, as Hugo and Jekyll have them. TIME_ZONE is the time zone
// of times without one.

import { globSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import type { Read, Row, Transform } from 'rostrum/import';
import { parse as parseToml, TomlDate } from 'smol-toml';
import { parse as parseYaml } from 'yaml';

const timeZone = process.env.TIME_ZONE;
const isPage = /\.(?:md|mkdn?|m(?:k|ark)?down|html)$/i;
const isOther = /\.(?:org|ad|adoc|asciidoc|rst|pandoc|pdc|textile)$/i;

const known =
  'title slug date publishDate expiryDate draft published headless tags author authors params build cascade';

/** Names in front matter, in lower case: the case does not matter, and some names are those of other members. */
const names = new Map<string, string>([
  ...known.split(' ').map((name) => [name.toLowerCase(), name] as const),
  ...['Id', 'Body', 'File', 'AuthorId', 'Problem', 'LeftOut'].map(
    (name) => [name.toLowerCase(), `original${name}`] as const,
  ),
  ...Object.entries({ _build: 'build', unpublishdate: 'expiryDate' }),
  ...Object.entries({ pubdate: 'publishDate', publishedat: 'publishDate' }),
]);

/** The length of the JSON object that a text begins with. */
function lengthOfJson(text: string): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:\\.|[^"\\])*"|[{}]/g)) {
    depth += token === '{' ? 1 : token === '}' ? -1 : 0;
    if (depth === 0) return index + 1;
  }
  return undefined;
}

/** Front matter, in YAML (`---`), TOML (`+++`) or JSON, and the text behind it. */
function parts(text: string): { readonly front: unknown; readonly body: string } {
  const start = text.trimStart();
  const [mark] = /^(?:---|\+\+\+|\{(?![{%]))/.exec(start) ?? [];
  if (mark === undefined) return { front: {}, body: text };
  if (mark === '{') {
    const length = lengthOfJson(start) ?? start.length;
    const body = start.slice(length).replace(/^[^\S\n]*\n/, '');
    return { front: JSON.parse(start.slice(0, length)), body };
  }
  const [all, , front = ''] =
    /^(---|\+\+\+)[^\S\n]*\n(.*?\n|)\1[^\S\n]*(?:\n|$)/s.exec(start) ?? [];
  if (all === undefined) throw new Error(`No line with ${mark} ends the front matter.`);
  return {
    front: mark === '+++' ? parseToml(front) : (parseYaml(front) ?? {}),
    body: start.slice(all.length),
  };
}

/** Dates of TOML as they are written. */
function plain(value: unknown): unknown {
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function rowOf(folder: string, file: string): Row {
  try {
    const bytes = readFileSync(join(folder, file));
    const { front, body } = parts(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof front !== 'object' || Array.isArray(front))
      throw new Error('The front matter must have names and values, such as "title: Hello".');
    const row: Record<string, unknown> = { file, body };
    for (const [key, value] of Object.entries(Object(plain(front)))) {
      const name = names.get(key.toLowerCase()) ?? key;
      if (Object.hasOwn(row, name)) throw new Error(`The front matter has ${name} twice.`);
      row[name] = value;
    }
    return row;
  } catch (error) {
    return { file, problem: (error as Error).message };
  }
}

/** The authors of a page, as `author` or `authors`: names, or objects with a name. */
function authorsOf({ author, authors, params }: Row): Row[] {
  const lists = [authors, author, params?.authors, params?.author].map((one) =>
    [one ?? []].flat().filter((name) => name !== null && name !== ''),
  );
  const all = lists.find((list) => list.length > 0) ?? [];
  return all.map((one) => (typeof one === 'object' ? one : { name: `${one}`.trim() }));
}

const idOf = ({ name }: Row) =>
  `${name}`.trim().normalize('NFC').toLowerCase().replace(/\s+/g, '-');

/** The authors of all pages, each once, and what is left out: other spellings. */
function usersOf(authors: readonly Row[]): Iterable<Row> {
  const users = new Map<string, Row>();
  const others = new Map<string, Row>();
  for (const author of authors) {
    const first = users.get(idOf(author)) ?? author;
    const { name, email } = author;
    users.set(idOf(author), { ...author, ...first });
    if (email && first.email && first.email !== email)
      others.set(email, {
        name,
        problem: `An author has two addresses: ${first.email} and ${email}.`,
      });
    else if (name !== first.name)
      others.set(name, { leftOut: `other spelling of ${first.name}: ${name}` });
  }
  return [...users.values(), ...others.values()];
}

/** The folders that a file is in. */
function foldersOf(file: string): string[] {
  const folder = posix.dirname(file);
  return folder === '.' ? [folder] : [folder, ...foldersOf(folder)];
}

/** What a section can pass to its pages (`cascade`), so that they are not public, or not yet. */
const hides = /"(?:draft|_?build|headless|(?:un)?publish(?:ed|date)|pubdate|expirydate)":/i;

export const read: Read = (folder) => {
  const files = globSync('**/*.*', { cwd: folder }).map((file) => file.replaceAll('\\', '/'));
  const isJekyll = files.some((file) =>
    /[/\\]_(?:posts|drafts)\//.test(`${resolve(folder)}/${file}`),
  );
  const rows = files
    .filter((file) => isPage.test(file) || isOther.test(file))
    .sort()
    .map((file) => (isPage.test(file) ? rowOf(folder, file) : { file, leftOut: 'not Markdown' }));
  const isIndex = (file: string) => /(?:^|\/)index\.[^/]*$/.test(file);
  const indexes = isJekyll ? [] : rows.map(({ file }) => file).filter(isIndex);
  const bundles = new Set(indexes.map(posix.dirname).filter((one) => one !== '.'));
  const cascades = new Map<string, string>();
  for (const { file, cascade } of rows)
    if (hides.test(JSON.stringify(cascade) ?? '')) cascades.set(posix.dirname(file), file);
  const posts = rows.map((row): Row => {
    const { file, tags, problem } = row;
    const folders = foldersOf(file);
    if (folders.slice(isIndex(file) ? 1 : 0).some((one) => bundles.has(one)))
      return { file, leftOut: 'resource of a bundle' };
    if (problem || row.leftOut) return row;
    if (/(?:^|\/)_index\./.test(file)) return { file, leftOut: 'list (_index)' };
    const section = folders.find((one) => cascades.has(one));
    if (section !== undefined)
      return {
        ...row,
        problem: `${cascades.get(section)} passes draft, build or a date to this page by cascade: write them into its pages instead.`,
      };
    // Jekyll splits a text at spaces.
    const list = isJekyll ? tags?.split?.(/[,\s]+/).filter(Boolean) : undefined;
    return { ...row, tags: list ?? [tags ?? []].flat() };
  });
  return { users: usersOf(posts.filter(({ leftOut }) => !leftOut).flatMap(authorsOf)), posts };
};

export const users: Transform = (row, { leaveOut }) => {
  if (row.leftOut) return leaveOut(row.leftOut);
  if (row.problem) throw new Error(row.problem);
  return { ...row, id: idOf(row) };
};

const yes = (value: unknown) => /^(?:true|yes|on|1)$/i.test(`${value ?? ''}`);
const no = (value: unknown) => /^(?:false|no|off|0)$/i.test(`${value ?? ''}`);

export const posts: Transform = (row, { instant, leaveOut }) => {
  if (row.leftOut) return leaveOut(row.leftOut);
  if (row.problem) throw new Error(row.problem);
  const {
    file,
    title,
    slug,
    date,
    publishDate,
    expiryDate,
    draft,
    published,
    tags,
    author,
    authors,
    headless,
    build,
    ...fields
  } = row;
  const name = file.replace(/(?:\/index)?\.\w+$/, '');
  const [, day, base = ''] = /([^/]*)$/.exec(name)?.[0].match(/^(\d{4}-\d\d-\d\d)?-?(.*)$/) ?? [];
  const time =
    publishDate ?? (no(published) || yes(published) ? undefined : published) ?? date ?? day;
  const read = (value: unknown) => (value == null ? undefined : instant(value, { timeZone }));
  const at = read(time);
  const isBuilt = !/"(?:render|list)":"?(?:never|false)/i.test(JSON.stringify(build) ?? '');
  const isOver = Date.parse(read(expiryDate) ?? '') < Date.now();
  const isHidden =
    yes(draft) ||
    no(published) ||
    yes(headless) ||
    !isBuilt ||
    isOver ||
    /(?:^|\/)_drafts\//.test(file);
  const [first, ...others] = authorsOf(row).map(idOf);
  return {
    ...fields,
    id: name.replaceAll('/', '-'),
    title: title || base || name,
    slug: slug ?? base,
    tags,
    authorId: first,
    ...(others.length > 0 && { coAuthors: others }),
    ...(isHidden ? { publishedAt: null, originalDate: at } : at && { publishedAt: at }),
  };
};
