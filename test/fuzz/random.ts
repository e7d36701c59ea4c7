/** Random choices that are reproducible with a seed. */
export interface Random {
  /** Returns an integer from 0 up to, but not including, `below`. */
  int(below: number): number;
  pick<T>(choices: readonly T[]): T;
  chance(probability: number): boolean;
}

/** Mulberry32, which is small, fast and good enough. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    int: (below) => Math.floor(next() * below),
    pick: <T>(choices: readonly T[]) => choices[Math.floor(next() * choices.length)] as T,
    chance: (probability) => next() < probability,
  };
}
