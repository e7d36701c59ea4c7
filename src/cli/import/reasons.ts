import type { Refusal } from './list-import.ts';

/** How many reasons are told apart: a file may have a wrong key of its own in every record. */
const most = 20;

/** Counts why records are refused. */
export class Reasons {
  readonly #counts = new Map<string, number>();

  add({ issues }: Refusal): void {
    for (const { pointer, code } of issues) {
      const reason = `${pointer} ${code}`.trimStart();
      const known = this.#counts.has(reason) || this.#counts.size < most ? reason : 'other reasons';
      this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
    }
  }

  /** The most frequent first: `100 × /authorId unknown, 10 × /email taken`. */
  get text(): string {
    const counts = [...this.#counts].sort(([, a], [, b]) => b - a);
    return counts.map(([reason, count]) => `${count} × ${reason}`).join(', ');
  }
}
