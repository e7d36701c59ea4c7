import { comparePositions, type Position } from '../../domain/page.ts';

/**
 * The places of all records in one order, ascending, so that a page is found in logarithmic time
 * however deep it lies.
 */
export class SortedIndex {
  readonly #places: Position[] = [];

  add(place: Position): void {
    this.#places.splice(this.#countBefore(place), 0, place);
  }

  remove(place: Position): void {
    this.#places.splice(this.#countBefore(place), 1);
  }

  /** The ids behind a place (or all of them), in a direction. */
  *walk(direction: 'asc' | 'desc', after?: Position): Generator<string> {
    const places = this.#places;
    if (direction === 'asc') {
      const start = after === undefined ? 0 : this.#countBefore(after, 'or at');
      for (let i = start; i < places.length; i++) yield (places[i] as Position).id;
    } else {
      const end = after === undefined ? places.length : this.#countBefore(after);
      for (let i = end - 1; i >= 0; i--) yield (places[i] as Position).id;
    }
  }

  /** The id of the first record with this key. */
  firstWith(key: string): string | undefined {
    const place = this.#places[this.#countBefore({ key, id: '' })];
    return place?.key === key ? place.id : undefined;
  }

  #countBefore(place: Position, orAt?: 'or at'): number {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = comparePositions(this.#places[middle] as Position, place);
      if (order < 0 || (order === 0 && orAt !== undefined)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
