import type { PageRequest } from '../../../domain/list.ts';

/** What a list came to: bytes and documents that the server sent. */
export interface ListSize {
  readonly bytes: number;
  readonly documents: number;
}

/** How many shapes are known. */
const most = 1000;

/** What lists came to the last time, by their shapes: those of one shape come to about the same. */
export class ListSizes {
  /** What was listed last is the last. */
  readonly #known = new Map<string, ListSize>();

  get(shape: string): ListSize | undefined {
    return this.#known.get(shape);
  }

  /** A size that falls is halved, so that one small page does not open the way for many large ones. */
  learn(shape: string, { bytes, documents }: ListSize): void {
    const last = this.#known.get(shape)?.bytes ?? 0;
    this.#known.delete(shape);
    this.#known.set(shape, { bytes: Math.max(bytes, last / 2), documents });
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** The shape of a list: what it is asked for, without the values. */
export function shapeOf({ filter, order, limit, fields }: PageRequest<object, string>): string {
  const filters = Object.entries(filter).filter(([, value]) => value !== undefined);
  const names = filters.map(([name]) => name);
  return [order.by, order.direction, limit, fields?.join(), ...names].join(' ');
}
