const words = `a about after all also and any back because but by can come could day do even first
for from get give go good have he her him his how if in into it its just know like look make me most
my new no not now of on one only or other our out over people`.split(/\s+/);

/** Returns the input of post number n, about half a kilobyte. Always the same for a number. */
export function inputAt(n: number): { readonly title: string; readonly body: string } {
  return { title: text(n, 0, 6), body: text(n, 6, 66) };
}

function text(n: number, from: number, to: number): string {
  const word = (i: number) => words[scattered(n, from + i) % words.length];
  return Array.from({ length: to - from }, (_, i) => word(i)).join(' ');
}

/** Returns a pseudo-random number of 31 bits for a number (the finalizer of Murmur3). */
function scattered(n: number, i: number): number {
  let mixed = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(i + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 1;
}
