/** What a content management system exports, as a CSV of posts and a file of JSON Lines. */

/** The authors of the posts below. The third has no name. */
export function authors(count: number) {
  return Array.from({ length: count }, (_, n) => {
    return { id: n + 1, name: n === 2 ? '' : `Author ${n + 1}`, email: `a${n + 1}@example.com` };
  });
}

/** What is wrong with rows of the CSV, one row after another. */
const mistakes = [
  (cells: string[]) => cells.with(1, ''),
  (cells: string[]) => cells.with(2, '99'),
  (cells: string[]) => cells.with(3, '0000-00-00 00:00:00'),
  (cells: string[]) => cells.with(4, '1,000'),
  (cells: string[]) => [...cells, 'one cell too many'],
];

export const columns = 'ID,post_title,post_author,post_date,hits,post_content';

/** Rows of which `bad` cannot be imported, all over the file. @param authors whose ids there are */
export function postsCsv(rows: number, bad: number, authors: number): string {
  const every = Math.floor(rows / bad);
  const lines = Array.from({ length: rows }, (_, n) => {
    const author = (n % authors) + 1;
    const date = `2019-${String((n % 12) + 1).padStart(2, '0')}-15 10:05:00`;
    const cells = [
      ...[`${n + 1}`, `On "engines", ${n}`, `${author === 3 ? 4 : author}`],
      ...[date, `${n}`, `First line\nsecond line`],
    ];
    const isBad = n % every === 0 && n < every * bad;
    const mistake = mistakes[(n / every) % mistakes.length];
    const row = isBad && mistake ? mistake(cells) : cells;
    return row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
  });
  return `${[columns, ...lines].join('\n')}\n`;
}

/** Posts with ids and times of their own. */
export function* postLines(count: number): Generator<string> {
  for (let n = 0; n < count; n++) {
    const createdAt = new Date(Date.UTC(2015, 0, 1) + n * 60_000).toISOString();
    const body = `It began with ${n}, as so many things do. `.repeat(5);
    yield `${JSON.stringify({ id: n, title: `Post ${n}`, body, tags: ['a', n], createdAt })}\n`;
  }
}
