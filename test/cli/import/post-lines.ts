/** Posts with ids and times, as JSON Lines. */
export function* postLines(count: number): Generator<string> {
  for (let n = 0; n < count; n++) {
    const createdAt = new Date(Date.UTC(2015, 0, 1) + n * 60_000).toISOString();
    const body = `It began with ${n}, as so many things do. `.repeat(5);
    yield `${JSON.stringify({ id: n, title: `Post ${n}`, body, tags: ['a', n], createdAt })}\n`;
  }
}
