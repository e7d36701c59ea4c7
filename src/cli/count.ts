/** `1 user`, `2,000 users` */
export function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** `72,980` */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

export interface Counts {
  readonly users: number;
  readonly posts: number;
}

export function countsText({ users, posts }: Counts): string {
  return `${counted(users, 'user')} and ${counted(posts, 'post')}`;
}
