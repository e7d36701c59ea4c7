/** Characters of a text that is put together: Node copies it behind the headers. */
const shortText = 64 * 1024;

/** Characters of a piece, about. Memory for more is fetched from the system, page by page, each time. */
const pieceLength = 32 * 1024;

/**
 * A text that is sent in pieces of bytes, once. It forgets them then: who has waited for it may have
 * become old to the collector of V8, which would keep the pieces until it looks at all that is old.
 */
export class LongText {
  /** In bytes. */
  readonly length: number;
  #pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#pieces = pieces;
  }

  take(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }
}

/** Texts with commas between them. */
export function joined(texts: readonly string[]): string | LongText {
  const length = texts.reduce((sum, text) => sum + text.length + 1, -1);
  if (length <= shortText) return texts.join(',');
  const pieces: Buffer[] = [];
  let piece: string[] = [];
  let characters = 0;
  for (const [i, text] of texts.entries()) {
    piece.push(text);
    characters += text.length;
    if (characters < pieceLength && i < texts.length - 1) continue;
    pieces.push(Buffer.from(piece.join(',')));
    piece = ['']; // The next one begins with a comma.
    characters = 0;
  }
  return new LongText(pieces);
}

/** Whether a body is a text that Node copies behind the headers, in one write. */
export function isShort(body: string | LongText): body is string {
  return typeof body === 'string' && body.length <= shortText;
}

/** A body in bytes. */
export function piecesOf(body: string | LongText): readonly Uint8Array[] {
  return typeof body === 'string' ? [Buffer.from(body)] : body.take();
}

/** The text that the pieces make. */
export function textOf(body: LongText): string {
  return Buffer.concat(body.take()).toString();
}
