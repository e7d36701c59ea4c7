const space = /[ \t\n\r]*/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainText = /[ !#-[\]-\uffff]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/**
 * Finds where a text stops being JSON. `JSON.parse` says it of some texts only.
 *
 * @param text what `JSON.parse` refuses
 * @returns the index of the first token that cannot stand there; the length when more is missing
 */
export function findJsonError(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: 'value' | 'key' | ':' | ',' = 'value';
  /** Whether the object or array has just been opened, and so may be empty. */
  let isNew = false;
  for (let at = after(space, text, 0); ; at = after(space, text, at)) {
    const char = text[at];
    const inObject = open.at(-1) === '{';
    const mayClose = expected === ',' || isNew;
    if (mayClose && open.length > 0 && char === (inObject ? '}' : ']')) {
      open.pop();
      expected = ',';
      at += 1;
    } else if (expected === 'value' && (char === '{' || char === '[')) {
      open.push(char);
      expected = char === '{' ? 'key' : 'value';
      isNew = true;
      at += 1;
      continue;
    } else if (char === '"' && (expected === 'key' || expected === 'value')) {
      at = afterText(text, at + 1);
      if (text[at] !== '"') return at;
      expected = expected === 'key' ? ':' : ',';
      at += 1;
    } else if (expected === 'value') {
      const end = after(scalar, text, at);
      if (end === at) return at;
      expected = ',';
      at = end;
    } else if (char === expected && (char === ':' || open.length > 0)) {
      expected = char === ',' && inObject ? 'key' : 'value';
      at += 1;
    } else return at;
    isNew = false;
  }
}

/** The end of a text's characters: its quotation mark, or what cannot stand in it. */
function afterText(text: string, start: number): number {
  for (let at = start; ; ) {
    const next = after(escaped, text, after(plainText, text, at));
    if (next === at) return at;
    at = next;
  }
}

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
