import { foldedName } from '../../domain/fields/fields.ts';
import type { FieldIssue } from '../../domain/fields/issues.ts';
import { counted, quoted } from '../output.ts';

const yes = /^(?:true|t|yes|y|1|on|x|checked|draft|private)$/;
const no = /^(?:false|f|no|n|0|off|draft|private|unpublished|null|none|\\n|)$/;
const words =
  /^(?:0|false|(?:auto)?drafts?|pending(?:review)?|(?:in)?review|private|trash(?:ed)?|unpublished|inherit|hidden|unlisted|inactive|archived?|deleted|spam|internal|direct|members(?:only)?|paid|tiers|only(?:paid|free)|founding|password|protected|sent|queued?)$/;
const anything = /^(?!(?:null|\\n|0|false|0000.*)$)./;

/**
 * What says that a post is not public: the names of columns, and the values that say it. Both are compared
 * in lower case, without spaces, `_` and `-`.
 */
const notPublic: readonly (readonly [names: string, values: RegExp])[] = [
  ['draft|private|hidden|unlisted|unpublished|trash|trashed|deleted|archived|membersonly', yes],
  ['published|publish|public|live|online|visible', no],
  ['status|state|visibility|audience|access|privacy', words],
  ['password|deletedat|trashedat|archivedat', anything],
];

/** What the names can begin with: `is_published`, `post_status`. */
const prefix = '(?:is|wp:)?(?:post|page|entry|article|content|publish|published|publishing)?';

const namesAndValues = notPublic.map(([names, values]) => {
  return [new RegExp(`^${prefix}(?:${names})$`), values] as const;
});

/** How many values of a column are listed. */
const mostValues = 10;

export type Doubts = ReturnType<typeof createDoubts>;

/** Finds posts that say in a column that they are not public, and collects what they say. */
export function createDoubts() {
  const meanings = new Map<string, RegExp | undefined>(); // By column: matching a name is slow.
  const columns = new Map<string, { count: number; readonly values: Set<unknown> }>();
  const meaningOf = (column: string) => {
    if (!meanings.has(column)) {
      const name = foldedName(column);
      meanings.set(column, namesAndValues.find(([names]) => names.test(name))?.[1]);
    }
    return meanings.get(column);
  };
  return {
    /** @param isRead tells whether a transform has read a column by its name */
    find(content: object, isRead: (column: string) => boolean): FieldIssue | undefined {
      for (const [column, value] of Object.entries(content)) {
        const says = meaningOf(column)?.test(foldedName(String(value ?? '')));
        if (!says || isRead(column)) continue;
        const message = `The column ${quoted(column)} is ${quoted(value)}, so the post is not public, but nothing makes it a draft.`;
        return { pointer: `/${column}`, code: 'invalid', message };
      }
      return undefined;
    },
    /** Counts a post that was rejected for this. */
    count({ pointer }: FieldIssue, content: object): void {
      const column = pointer.slice(1);
      const { count, values } = columns.get(column) ?? { count: 0, values: new Set() };
      if (values.size < mostValues) values.add(Reflect.get(content, column));
      columns.set(column, { count: count + 1, values });
    },
    /** Says how to import the posts. @param names the fields of the other columns, if no transform names them */
    advice(names: ReadonlyMap<string, string> | undefined): string[] {
      return [...columns].flatMap(([column, { count, values }]) => {
        const list = [...values].map(quoted).join(', ');
        const says = `The column ${quoted(column)} says that ${counted(count, 'post')} must not be public: ${list}.`;
        const others = `To publish them without the column, use --ignore-column ${quoted(column)}.`;
        const condition = `${JSON.stringify([...values])}.includes(row[${JSON.stringify(column)}])`;
        if (names === undefined)
          return [
            `${says} Read it in your transform, or in a copy of the recipe in its folder: ${condition}. ${others}`,
          ];
        const renamed = [...names].filter(([from, to]) => from !== to);
        const pattern = renamed.map(([from, to]) => `${JSON.stringify(from)}: ${to}, `).join('');
        const fields = renamed.map(([, to]) => `${to}, `).join('');
        return [
          `${says} To import them as drafts, and keep the column, use --transform with this module:`,
          `  export const posts = ({ ${pattern}...row }) => {`,
          `    const isDraft = ${condition};`,
          `    return { ${fields}...row, ...(isDraft && { publishedAt: null }) };`,
          '  };',
          others,
        ];
      });
    },
  };
}
