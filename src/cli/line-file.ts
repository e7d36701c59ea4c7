import { closeSync, openSync, writeSync } from 'node:fs';

/** How many characters wait to be written. */
const gathered = 64 * 1024;

/** A private file that lines are appended to. */
export class LineFile implements Disposable {
  readonly path: string;
  readonly #descriptor: number;
  #text = '';

  /** Replaces what is in the file. */
  constructor(path: string) {
    this.path = path;
    this.#descriptor = openSync(path, 'w', 0o600);
  }

  add(line: string): void {
    this.#text += `${line}\n`;
    if (this.#text.length > gathered) this.flush();
  }

  /** Writes the lines that wait. */
  flush(): void {
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }

  [Symbol.dispose](): void {
    this.flush();
    closeSync(this.#descriptor);
  }
}
