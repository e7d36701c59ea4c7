const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The keys of an object that is being scanned: none, one, or more. Most objects need no set. */
type Keys = undefined | string | Set<string>;

/**
 * Finds a key that is given twice in one object, at any depth, after unescaping: `"a"` and
 * `"\u0061"` are the same key. `JSON.parse` would silently take the last one.
 *
 * Does not recurse, so deep nesting can't overflow the stack.
 *
 * @param text JSON that `JSON.parse` has accepted
 */
export function findDuplicateKey(text: string): string | undefined {
  // An open object has its keys here, an open array null.
  const open: (Keys | null)[] = [];
  let keyFollows = false;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case OPEN_BRACE:
        open.push(undefined);
        keyFollows = true;
        break;
      case OPEN_BRACKET:
        open.push(null);
        keyFollows = false;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        keyFollows = false;
        break;
      case COMMA:
        keyFollows = open.at(-1) !== null;
        break;
      case QUOTE: {
        const end = endOfString(text, i);
        if (keyFollows) {
          const key = unescaped(text.slice(i, end + 1));
          const keys = open.at(-1) ?? undefined;
          if (keys === key || (keys instanceof Set && keys.has(key))) return key;
          open[open.length - 1] = withKey(keys, key);
          keyFollows = false;
        }
        i = end;
        break;
      }
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  let end = start;
  let backslashes = 0;
  do {
    end = text.indexOf('"', end + 1);
    backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
  } while (backslashes % 2 === 1); // Such a quote is part of the string.
  return end;
}

function unescaped(literal: string): string {
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
}

function withKey(keys: Keys, key: string): Keys {
  if (keys === undefined) return key;
  return typeof keys === 'string' ? new Set([keys, key]) : keys.add(key);
}
