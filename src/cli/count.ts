/** A number of things as people say it: `1 user`, `2,000 users`. */
export function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** A number as people read it: `72,980`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

/** How many records there are. */
export interface Counts {
  readonly users: number;
  readonly posts: number;
}

export function countsText({ users, posts }: Counts): string {
  return `${counted(users, 'user')} and ${counted(posts, 'post')}`;
}
