/** The content of a response. Bytes may be shared by many: a long page that never changes is encoded once. */
export type Body = string | Buffer | LongText;

/** Characters of a body that is sent as a text: Node copies it behind the headers, in one write. */
const shortText = 64 * 1024;

/** Characters of a piece, about. A larger buffer is mapped and unmapped each time. */
const pieceLength = 32 * 1024;

/**
 * A long body as a list of texts. It is encoded in pieces when it is sent, so that the whole is never
 * in memory as one text.
 */
export class LongText {
  /** In UTF-8. */
  readonly byteLength: number;
  readonly #front: string;
  #texts: readonly string[] | undefined;
  readonly #end: string;

  constructor(front: string, texts: readonly string[], end: string) {
    this.#front = front;
    this.#texts = texts;
    this.#end = end;
    const commas = Math.max(texts.length - 1, 0);
    this.byteLength = Buffer.byteLength(front) + commas + Buffer.byteLength(end);
    for (const text of texts) this.byteLength += Buffer.byteLength(text);
  }

  /** The whole, in pieces. It can be taken once. */
  take(): readonly Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let piece = [this.#front];
    let characters = 0;
    for (const [i, text] of this.#drop().entries()) {
      if (i > 0) piece.push(',');
      piece.push(text);
      characters += text.length;
      if (characters < pieceLength) continue;
      pieces.push(Buffer.from(piece.join('')));
      piece = [];
      characters = 0;
    }
    piece.push(this.#end);
    pieces.push(Buffer.from(piece.join('')));
    return pieces;
  }

  /** The whole as one text, which can be taken once as well. */
  takeText(): string {
    return this.#front + this.#drop().join(',') + this.#end;
  }

  /**
   * Whoever waited long for it may be in V8's old generation by now, and would keep the texts alive
   * until the next full collection.
   */
  #drop(): readonly string[] {
    const texts = this.#texts;
    if (texts === undefined) throw new Error('This text was taken before.');
    this.#texts = undefined;
    return texts;
  }
}

/** `front`, the texts with commas between them, and `end`. */
export function joined(front: string, texts: readonly string[], end: string): string | LongText {
  let length = front.length + Math.max(texts.length - 1, 0) + end.length;
  for (const text of texts) length += text.length;
  if (length > shortText) return new LongText(front, texts, end);
  // `front + texts.join(',') + end` would be copied once more when it is written.
  const [first = '', ...rest] = texts;
  const last = rest.pop();
  if (last === undefined) return front + first + end;
  return [front + first, ...rest, last + end].join(',');
}

/** How many bytes a body has, a text as UTF-8. */
export function bytesOf(body: Body): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}

/** What is written for a body: of a short one the text, of a longer one pieces of bytes. */
export function chunksOf(body: Body): string | readonly Uint8Array[] {
  if (body instanceof LongText) return body.take();
  if (typeof body !== 'string') return [body];
  return body.length > shortText ? [Buffer.from(body)] : body;
}
