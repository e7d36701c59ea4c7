/** A number of things as people say it: `1 user`, `2 users`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
