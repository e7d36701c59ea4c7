import { utf8Bytes } from './text.ts';

const primes = firstPrimes(64);

/** The first 32 bits of the fractional parts of roots of primes (FIPS 180-4, 4.2.2 and 5.3.3). */
const roundConstants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const initialState = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/**
 * SHA-256 (FIPS 180-4) of a text's UTF-8, in hexadecimal.
 *
 * Our own, because the core needs it synchronously and in every runtime: the Web Crypto API has no
 * synchronous digest.
 */
export function sha256(text: string): string {
  const blocks = blocksOf(text.toWellFormed());
  const state = initialState.slice();
  const words = new Int32Array(64);
  for (let start = 0; start < blocks.length; start += 16) {
    words.set(blocks.subarray(start, start + 16));
    addBlock(state, words);
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The compression function (FIPS 180-4, 6.2.2). @param words the block, in the first 16 */
function addBlock(state: Int32Array, words: Int32Array): void {
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15] as number;
    const y = words[i - 2] as number;
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    words[i] = (words[i - 16] as number) + s0 + (words[i - 7] as number) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t1 = (h + s1 + choice + (roundConstants[i] as number) + (words[i] as number)) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + s0 + majority) | 0;
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) {
    state[i] = (state[i] as number) + value;
  }
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** UTF-8, the bit 1, zeros, and the length in bits (FIPS 180-4, 5.1.1), as words of 32 bits. */
function blocksOf(text: string): Int32Array {
  const length = utf8Bytes(text);
  const words = new Int32Array(Math.ceil((length + 9) / 64) * 16);
  let at = 0;
  const add = (byte: number): void => {
    words[at >> 2] = (words[at >> 2] as number) | (byte << (24 - (at & 3) * 8));
    at += 1;
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number;
    if (code < 0x80) add(code);
    else {
      if (code >= 0x10000) {
        i += 1; // The other half of the pair.
        add(0xf0 | (code >> 18));
        add(0x80 | ((code >> 12) & 63));
      } else if (code >= 0x800) add(0xe0 | (code >> 12));
      add((code < 0x800 ? 0xc0 : 0x80) | ((code >> 6) & (code < 0x800 ? 31 : 63)));
      add(0x80 | (code & 63));
    }
  }
  add(0x80);
  words[words.length - 2] = Math.floor(length / 2 ** 29);
  words[words.length - 1] = length << 3;
  return words;
}

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    if (found.every((prime) => n % prime !== 0)) found.push(n);
  }
  return found;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}
