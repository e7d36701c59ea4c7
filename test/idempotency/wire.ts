/** Puts the messages of MongoDB's wire protocol together from the chunks that they come in. */
export class Messages {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that this chunk completes. */
  add(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const complete: Buffer[] = [];
    while (this.#rest.length >= 4 && this.#rest.length >= this.#rest.readInt32LE()) {
      const length = this.#rest.readInt32LE();
      complete.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
    }
    return complete;
  }
}

/** https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg */
const opMsg = { code: 2013, firstKey: 26 };

/** The name of a message's command: the first key of its first document. */
export function commandOf(message: Buffer): string | undefined {
  if (message.readInt32LE(12) !== opMsg.code) return undefined;
  return message.toString('latin1', opMsg.firstKey, message.indexOf(0, opMsg.firstKey));
}
