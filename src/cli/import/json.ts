import { Failure } from '../failure.ts';
import { bytesOf, longestRecord, type Reading } from './given.ts';

/** An element of an array, as its text. */
interface Element {
  readonly index: number;
  /** undefined when its bytes are not UTF-8. */
  readonly text: string | undefined;
  readonly bytes: number;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads the elements of an array of any length, one by one: of the array that the file is, or of
 * the array that the member `name` of its object is. Everything else is passed over.
 *
 * @param name `''` for a file that is an array itself
 * @param others is given the names of the other members, except `users` and `posts`
 * @throws Failure with the line in which the file stops being JSON
 */
export async function* readJson(
  path: string,
  name: string,
  reading: Reading,
  others: Set<string>,
): AsyncGenerator<Element> {
  const text = new JsonText(path, reading);
  if (name === '') yield* elements(text);
  else {
    await text.expect('{', openBrace);
    if ((await text.peek()) === closeBrace) text.skip();
    else {
      let isFound = false;
      do {
        const member = await text.key();
        if (member === name && isFound) throw await text.failure(`there is a second "${name}"`);
        await text.expect(':', colon);
        if (member === name) {
          isFound = true;
          yield* elements(text);
        } else {
          if (member !== 'users' && member !== 'posts') others.add(member);
          await text.value(false);
        }
      } while (await text.goesOn('}', closeBrace));
    }
  }
  if ((await text.peek()) !== undefined) {
    throw await text.failure('more follows (JSON Lines are read from a file named .jsonl)');
  }
}

async function* elements(text: JsonText): AsyncGenerator<Element> {
  await text.expect('[', openBracket);
  if ((await text.peek()) === closeBracket) return text.skip();
  let index = 0;
  do {
    const before = text.position;
    const element = await text.value(true);
    yield { index, text: element, bytes: text.position - before };
    index += 1;
  } while (await text.goesOn(']', closeBracket));
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** JSON text that is read forwards, a piece of the file at a time. */
class JsonText {
  readonly #path: string;
  readonly #pieces: AsyncIterator<Buffer>;
  #piece: Buffer = Buffer.alloc(0);
  /** Where in the piece the next byte is. */
  #at = 0;
  /** How many bytes are in the pieces before this one. */
  #before = 0;

  constructor(path: string, reading: Reading) {
    this.#path = path;
    this.#pieces = bytesOf(path, reading);
  }

  get position(): number {
    return this.#before + this.#at;
  }

  /** The next byte that is not white space; undefined at the end of the file. */
  async peek(): Promise<number | undefined> {
    for (;;) {
      for (; this.#at < this.#piece.length; this.#at++) {
        const byte = this.#piece[this.#at];
        if (byte !== undefined && !isSpace(byte) && !this.#isMark(byte)) return byte;
      }
      if (!(await this.#more())) return undefined;
    }
  }

  skip(): void {
    this.#at += 1;
  }

  async expect(what: string, byte: number): Promise<void> {
    if ((await this.peek()) !== byte) throw await this.failure(`there is no ${what}`);
    this.skip();
  }

  /** Reads the key of a member. */
  async key(): Promise<string> {
    if ((await this.peek()) === quote) {
      try {
        return String(JSON.parse((await this.value(true)) ?? ''));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    throw await this.failure('there is no key');
  }

  /** Reads a comma (true) or the end of an array or object (false). */
  async goesOn(what: string, end: number): Promise<boolean> {
    const byte = await this.peek();
    if (byte !== comma && byte !== end) throw await this.failure(`there is neither , nor ${what}`);
    this.skip();
    return byte === comma;
  }

  /** Reads a value to its end, whatever it is. @returns its text, or undefined if not UTF-8 */
  async value(isKept: boolean): Promise<string | undefined> {
    const first = await this.peek();
    const isNone = first === undefined || [comma, colon, closeBrace, closeBracket].includes(first);
    if (isNone) throw await this.failure('there is no value');
    const scan = new ValueScan();
    const [kept, begin]: [Buffer[], number] = [[], this.position];
    for (;;) {
      const end = scan.endIn(this.#piece, this.#at);
      if (isKept) kept.push(this.#piece.subarray(this.#at, end ?? this.#piece.length));
      this.#at = end ?? this.#piece.length;
      if (isKept && this.position - begin > longestRecord) {
        throw await this.failure('a record is longer than any can be');
      }
      if (end !== undefined) break;
      if (await this.#more()) continue;
      if (scan.isOpen) throw await this.failure('the file is cut off');
      break;
    }
    if (!isKept) return undefined;
    try {
      return decoder.decode(Buffer.concat(kept));
    } catch {
      return undefined;
    }
  }

  /** The sentence about what is wrong here, with its line. */
  async failure(what: string): Promise<Failure> {
    let [line, left] = [1, this.position];
    const reading = { signal: new AbortController().signal, onBytes() {} };
    for await (const piece of bytesOf(this.#path, reading)) {
      for (const byte of piece.subarray(0, left)) line += Number(byte === 0x0a);
      left -= piece.length;
      if (left <= 0) break;
    }
    return new Failure(`${this.#path} is not the JSON that it should be: ${what} in line ${line}.`);
  }

  async #more(): Promise<boolean> {
    const next = await this.#pieces.next();
    if (next.done) return false;
    this.#before += this.#piece.length;
    this.#piece = next.value;
    this.#at = 0;
    return true;
  }

  /** A byte order mark (U+FEFF in UTF-8) at the beginning of the file. */
  #isMark(byte: number): boolean {
    return byte === [0xef, 0xbb, 0xbf][this.position];
  }
}

/** Finds where a value ends, in one piece or over several of them. */
class ValueScan {
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #hasBegun = false;

  /** Whether the value would be cut off here. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#isText;
  }

  /** @returns the index behind the value's last byte; undefined when it goes on */
  endIn(piece: Buffer, from: number): number | undefined {
    for (let at = from; at < piece.length; at++) {
      const byte = piece[at];
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) {
          this.#isText = false;
          if (this.#depth === 0) return at + 1;
        }
      } else if (byte === quote) {
        if (this.#depth === 0 && this.#hasBegun) return at;
        this.#isText = true;
      } else if (byte === openBrace || byte === openBracket) {
        if (this.#depth === 0 && this.#hasBegun) return at;
        this.#depth += 1;
      } else if (byte === closeBrace || byte === closeBracket) {
        if (this.#depth === 0) return at;
        this.#depth -= 1;
        if (this.#depth === 0) return at + 1;
      } else if (this.#depth === 0 && byte !== undefined) {
        if (byte === comma || byte === colon || isSpace(byte)) return at;
      }
      this.#hasBegun = true;
    }
    return undefined;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
