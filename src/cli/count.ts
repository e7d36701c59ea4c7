/** A number of things as people say it: `1 user`, `2 users`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** How many records there are. */
export interface Counts {
  readonly users: number;
  readonly posts: number;
}

export function countsText({ users, posts }: Counts): string {
  return `${counted(users, 'user')} and ${counted(posts, 'post')}`;
}
