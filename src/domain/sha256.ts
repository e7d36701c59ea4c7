const primes = firstPrimes(64);

/** The first 32 bits of the fractional parts of roots of primes (FIPS 180-4, 4.2.2 and 5.3.3). */
const roundConstants = Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const initialState = Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/**
 * SHA-256 (FIPS 180-4) of a text's UTF-8, in hexadecimal.
 *
 * Our own, because a service needs it synchronously and in every runtime: the Web Crypto API has
 * no synchronous digest.
 */
export function sha256(text: string): string {
  const bytes = padded(utf8(text));
  const state = initialState.slice();
  const words = new Uint32Array(64);
  for (let start = 0; start < bytes.length; start += 64) addBlock(state, words, bytes, start);
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

function addBlock(state: Uint32Array, words: Uint32Array, bytes: Uint8Array, start: number): void {
  const at = (array: ArrayLike<number>, i: number): number => array[i] ?? 0;
  for (let i = 0; i < 16; i++) {
    const j = start + i * 4;
    words[i] =
      (at(bytes, j) << 24) | (at(bytes, j + 1) << 16) | (at(bytes, j + 2) << 8) | at(bytes, j + 3);
  }
  for (let i = 16; i < 64; i++) {
    const [x, y] = [at(words, i - 15), at(words, i - 2)];
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    words[i] = at(words, i - 16) + s0 + at(words, i - 7) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(roundConstants, i) + at(words, i)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = at(state, i) + value;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The bit 1, zeros, and the length in bits (FIPS 180-4, 5.1.1). */
function padded(bytes: readonly number[]): Uint8Array {
  const all = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  all.set(bytes);
  all[bytes.length] = 0x80;
  const bits = bytes.length * 8;
  for (let i = 0; i < 8; i++) all[all.length - 1 - i] = Math.floor(bits / 2 ** (8 * i)) & 0xff;
  return all;
}

/** The UTF-8 of a text; half of a surrogate pair is U+FFFD, as everywhere. */
function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text.toWellFormed()) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) {
      bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    } else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63));
      bytes.push(0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
  }
  return bytes;
}

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++)
    if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}
