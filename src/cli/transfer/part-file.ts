import { type FileHandle, open } from 'node:fs/promises';
import { type Line, readLines } from './read-lines.ts';

/**
 * A file that is written line by line, and that may hold some of these lines already: as long as
 * they are equal nothing is written, and the first one that differs is cut off with all behind it.
 */
export class PartFile {
  readonly #handle: FileHandle;
  #old: AsyncIterator<Line> | undefined;
  #same = 0;

  static async open(path: string): Promise<PartFile> {
    const handle = await open(path, 'a');
    return new PartFile(handle, readLines(path)[Symbol.asyncIterator]());
  }

  private constructor(handle: FileHandle, old: AsyncIterator<Line>) {
    this.#handle = handle;
    this.#old = old;
  }

  /** Each with its line feed. */
  async add(lines: readonly string[]): Promise<void> {
    let had = 0;
    while (had < lines.length && (await this.#has(lines[had]))) had += 1;
    if (had < lines.length) await this.#handle.appendFile(lines.slice(had).join(''));
  }

  /** What was added is on the disk, and nothing else is in the file. */
  async finish(): Promise<void> {
    await this.#cut();
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#old?.return?.();
    await this.#handle.close();
  }

  async #has(line: string | undefined): Promise<boolean> {
    if (this.#old === undefined) return false;
    const { value, done } = await this.#old.next();
    if (!done && value.isWhole && `${value.text}\n` === line) {
      this.#same += value.bytes;
      return true;
    }
    await this.#cut();
    return false;
  }

  async #cut(): Promise<void> {
    if (this.#old === undefined) return;
    await this.#old.return?.();
    this.#old = undefined;
    await this.#handle.truncate(this.#same);
  }
}
