import { caseFoldingRuns } from './case-folding-runs.ts';

const foldings = new Map(caseFoldingRuns.trim().split(/\s+/).flatMap(readRun));

/** Reads a run, as `case-folding-runs.ts` describes it. */
function readRun(run: string): [point: number, folded: string][] {
  const [span = '', to = ''] = run.split(':');
  const [ends = '', step = '1'] = span.split('/');
  const [first = 0, last = first] = ends.split('-').map(fromHex);
  const [start = 0, ...others] = to.split('+').map(fromHex);
  const read: [number, string][] = [];
  for (let point = first; point <= last; point += Number(step)) {
    read.push([point, String.fromCodePoint(start + point - first, ...others)]);
  }
  return read;
}

function fromHex(digits: string): number {
  return Number.parseInt(digits, 16);
}

/**
 * Returns the text after full Unicode case folding, without a locale (Unicode, section 3.13).
 *
 * `toLowerCase` can't replace it: it turns a final Σ into another letter than any other Σ, and it
 * depends on the runtime's version of Unicode.
 */
export function foldCase(text: string): string {
  let folded = '';
  let copied = 0;
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) ?? 0;
    const folding = foldings.get(point);
    if (folding === undefined) continue;
    folded += text.slice(copied, i) + folding;
    copied = i + (point > 0xffff ? 2 : 1);
  }
  return folded + text.slice(copied);
}
