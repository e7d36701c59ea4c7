import { instantFromMs } from '../src/domain/instant.ts';
import type { Post, User, Versioned } from '../src/index.ts';

const words = `a about after all also and any back because but by can come could day do even first
for from get give go good have he her him his how if in into it its just know like look make me most
my new no not now of on one only or other our out over people`.split(/\s+/);

/** One author for so many posts. */
const postsOfAuthor = 100;

const dayMs = 24 * 60 * 60 * 1000;
const start = Date.UTC(2026, 0, 1);

/** Author number n; always the same. */
export function authorAt(n: number): Versioned<User> {
  const at = instantFromMs(start);
  const fields = { name: `Author ${n}`, email: `author-${n}@example.org` };
  return { record: { id: idAt(start, n), createdAt: at, updatedAt: at, ...fields }, version: 1 };
}

/**
 * Post number n; always the same. Of about half a kilobyte as JSON, in another order by each of
 * the sorts.
 */
export function postAt(n: number): Versioned<Post> {
  const random = randomFrom(n);
  const created = start + 1000 * n;
  const record = {
    id: idAt(created, n),
    title: text(random, 6),
    body: text(random, 50),
    authorId: authorAt(Math.floor(n / postsOfAuthor)).record.id,
    createdAt: instantFromMs(created),
    updatedAt: instantFromMs(created + Math.floor(random() * 30 * dayMs)),
  };
  return { record, version: 1 };
}

/** How many authors so many posts have. */
export function authorsOf(posts: number): number {
  return Math.ceil(posts / postsOfAuthor);
}

/** Like a UUID of version 7: the time first. */
function idAt(ms: number, n: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

function text(random: () => number, length: number): string {
  return Array.from({ length }, () => words[Math.floor(random() * words.length)]).join(' ');
}

/** Mulberry32: small, fast, and random enough for words. */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b9);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
