// The words of texts and of queries, in all scripts. If you change this file, remove the index: it must be built again.

/** Limits that keep every post and every query cheap. The rest is ignored. */
const limits = { wordLength: 64, wordsOfText: 4000, termsOfQuery: 32 } as const;

/**
 * Scripts without spaces between words or, in Korean, between a word and its particles. Their words are pairs of
 * neighbouring characters.
 */
const unspaced = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]`;

/** A run of letters, marks and digits, in these scripts or in others. It starts with a letter or a digit. */
const runs = new RegExp(
  String.raw`(?<unspaced>[[\p{L}\p{N}]&&${unspaced}][[[\p{L}\p{N}]&&${unspaced}]\p{M}]*)` +
    String.raw`|[[\p{L}\p{N}]--${unspaced}][[\p{L}\p{M}\p{N}]--${unspaced}]*`,
  'gv',
);

/** Soft hyphens, joiners and other characters that a reader doesn't see. */
const invisible = /\p{Default_Ignorable_Code_Point}+/gu;

/** Marks that people leave out, as in é, ή and й. In other scripts, a mark can be a vowel. */
const optionalMarks = /(?<=[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{N}])\p{M}+/gu;

/**
 * Returns a text in one case, width and normal form, without the marks that people leave out. Upper case turns ß into
 * SS, and lower case turns the last Σ of a word into ς.
 */
function fold(text: string): string {
  const lower = text.normalize('NFKD').toLowerCase().toUpperCase().toLowerCase();
  const plain = lower.normalize('NFKD').replace(invisible, '').replace(optionalMarks, '');
  return plain.replaceAll('ς', 'σ').normalize('NFC');
}

interface Run {
  readonly characters: readonly string[];
  readonly isUnspaced: boolean;
  /** True if nothing follows it. */
  readonly isLast: boolean;
}

function* runsIn(text: string): Generator<Run> {
  const folded = fold(text);
  for (const { 0: run, index, groups } of folded.matchAll(runs)) {
    const isUnspaced = groups?.unspaced !== undefined;
    const characters = isUnspaced ? [...run] : [...run].slice(0, limits.wordLength);
    yield { characters, isUnspaced, isLast: index + run.length === folded.length };
  }
}

/**
 * Returns the words by which these texts are found. In a script without spaces, each character begins one: a pair, or at
 * the end the character alone.
 */
export function wordsOf(...texts: readonly string[]): string[] {
  const words = new Set<string>();
  for (const { characters, isUnspaced } of texts.flatMap((text) => [...runsIn(text)])) {
    if (!isUnspaced) words.add(characters.join(''));
    else
      for (const [i, first] of characters.entries()) words.add(first + (characters[i + 1] ?? ''));
  }
  return [...words].slice(0, limits.wordsOfText);
}

/** A word that a text must have, or a prefix of one. */
export interface Term {
  readonly word: string;
  readonly isPrefix: boolean;
}

/** Returns the terms of a query. Its last word is a prefix, because people search while they type. */
export function termsOf(query: string): Term[] {
  const terms = [...runsIn(query)].flatMap(({ characters, isUnspaced, isLast }): Term[] => {
    const word = characters.join('');
    const isSingle = characters.length === 1;
    // Too many words begin with one letter.
    if (!isUnspaced) return [{ word, isPrefix: isLast && !isSingle }];
    if (isSingle) return [{ word, isPrefix: true }];
    const pairs = characters.slice(1).map((second, i) => `${characters[i]}${second}`);
    return pairs.map((pair) => ({ word: pair, isPrefix: false }));
  });
  return terms.slice(0, limits.termsOfQuery);
}
