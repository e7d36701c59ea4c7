/** Characters of a body that is sent as a text: Node copies it behind the headers, in one write. */
const shortText = 64 * 1024;

/** Characters of a piece, about. A larger buffer is mapped and unmapped each time. */
const pieceLength = 32 * 1024;

/** A list of texts that is too long to be put together in memory, and is sent in pieces, once. */
export class LongText {
  /** In characters, as that of a string. */
  readonly length: number;
  readonly #front: string;
  #texts: readonly string[] | undefined;
  readonly #end: string;

  constructor(front: string, texts: readonly string[], end: string, length: number) {
    this.#front = front;
    this.#texts = texts;
    this.#end = end;
    this.length = length;
  }

  /** The whole, in bytes. It can be taken once. */
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

  /** The whole as one text, taken once as well. */
  takeText(): string {
    return this.#front + this.#drop().join(',') + this.#end;
  }

  /**
   * A response that waited long may be in V8's old generation, and would keep the texts alive until
   * the next full collection.
   */
  #drop(): readonly string[] {
    const texts = this.#texts;
    if (texts === undefined) throw new Error('This text was taken before.');
    this.#texts = undefined;
    return texts;
  }
}

/** Texts with commas between them, behind one text and before another. */
export function joined(front: string, texts: readonly string[], end: string): string | LongText {
  const commas = Math.max(texts.length - 1, 0);
  let length = front.length + commas + end.length;
  for (const text of texts) length += text.length;
  if (length > shortText) return new LongText(front, texts, end, length);
  return front + texts.join(',') + end;
}

/** What is written for a body: a short one is a text, a longer one bytes. */
export function encoded(body: string | LongText): string | readonly Uint8Array[] {
  if (typeof body !== 'string') return body.take();
  return body.length > shortText ? [Buffer.from(body)] : body;
}
