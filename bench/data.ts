import { instantFromMs } from '../src/domain/instant.ts';
import { VersionedRecord } from '../src/domain/record.ts';
import type { Post, User, Versioned } from '../src/index.ts';

const words = `a about after all also and any back because but by can come could day do even first
for from get give go good have he her him his how if in into it its just know like look make me most
my new no not now of on one only or other our out over people`.split(/\s+/);

const postsOfAuthor = 100;
const monthMs = 30 * 24 * 60 * 60 * 1000;
const start = Date.UTC(2024, 0, 1);

/** The number of authors that this many posts have. */
export function authorsOf(posts: number): number {
  return Math.ceil(posts / postsOfAuthor);
}

/** Author number n; always the same. */
export function authorAt(n: number): Versioned<User> {
  const at = instantFromMs(start);
  const fields = { name: `Author ${n}`, email: `author-${n}@example.org` };
  return new VersionedRecord({ id: idAt(start, n), createdAt: at, updatedAt: at, ...fields }, 1);
}

/** What a client sends as post number n; always the same. */
export function inputAt(n: number): { readonly title: string; readonly body: string } {
  return { title: text(n, 0, 6), body: text(n, 6, 66) };
}

/** Post number n; always the same, about half a kilobyte. Each sort has them in another order. */
export function postAt(n: number): Versioned<Post> {
  const created = start + 1000 * n;
  const changed = created + (scattered(n, 0) % monthMs);
  const record = {
    id: idAt(created, n),
    ...inputAt(n),
    authorId: idAt(start, Math.floor(n / postsOfAuthor)),
    createdAt: instantFromMs(created),
    updatedAt: instantFromMs(changed),
  };
  return new VersionedRecord(record, 1);
}

/** Shaped like a UUID of version 7: the time comes first. */
function idAt(ms: number, n: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

function text(n: number, from: number, to: number): string {
  const word = (i: number) => words[scattered(n, from + i) % words.length];
  return Array.from({ length: to - from }, (_, i) => word(i)).join(' ');
}

/** A number of 31 bits that follows no order of its arguments (Murmur3's last step). */
function scattered(n: number, i: number): number {
  let mixed = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(i + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 1;
}
