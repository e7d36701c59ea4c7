import type { PostInput } from '../domain/post.ts';
import type { UserInput } from '../domain/user.ts';

const firstNames = [
  ...['Ada', 'Amara', 'Anton', 'Bela', 'Carmen', 'Chen', 'Dara', 'Edda', 'Elif', 'Emil'],
  ...['Farid', 'Grace', 'Hana', 'Igor', 'Ines', 'Jonas', 'Kofi', 'Lena', 'Linh', 'Luca'],
  ...['Maya', 'Milan', 'Nadia', 'Noor', 'Olu', 'Paula', 'Ravi', 'Sara', 'Tomas', 'Yuki'],
];
const lastNames = [
  ...['Abara', 'Berg', 'Costa', 'Diaz', 'Eriksen', 'Fischer', 'Gupta', 'Haddad', 'Ito', 'Jansen'],
  ...['Kaya', 'Lindqvist', 'Mbeki', 'Nguyen', 'Okafor', 'Petrov', 'Quist', 'Rossi', 'Silva'],
  ...['Tanaka', 'Ueda', 'Varga', 'Weber', 'Yilmaz', 'Zhang'],
];
const subjects = [
  ...['bread', 'bicycles', 'compilers', 'gardens', 'harbours', 'letters', 'lighthouses', 'maps'],
  ...[
    'markets',
    'mountains',
    'night trains',
    'old radios',
    'rivers',
    'small towns',
    'tea',
    'winter',
  ],
];
const titles = [
  ...['On {}', 'A short history of {}', 'What {} taught me', 'Notes about {}', 'In praise of {}'],
  ...['Why {} still matter to us', 'Ten questions about {}', 'A week with {}', 'Against {}'],
];
const sentences = [
  'It began with {}, as so many things do.',
  'Nobody in our street talked about {} before last year.',
  'My grandmother kept a notebook about {}.',
  'There are three things to know about {}, and the first is patience.',
  'I used to think that {} were for other people.',
  'The best advice about {} fits on a postcard.',
  'We read everything about {} that the library had.',
  'Since then, {} and I get along.',
  'Ask me again in spring.',
  'That is all for today.',
];

/** What two runs with the same seed both make. */
export interface SeedData {
  user(): UserInput & { readonly email: string };
  /** A post of one of the users, by their number; of nobody when there are none. */
  post(users: number): { readonly input: PostInput; readonly author: number | undefined };
}

export function seedData(seed: number): SeedData {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = (texts: readonly string[]) => texts[below(texts.length)] ?? '';
  let users = 0;
  return {
    user() {
      const [first, last] = [pick(firstNames), pick(lastNames)];
      users += 1;
      // The seed and the number make the address one that nobody else has.
      const email = `${first}.${last}.${seed}-${users}@example.com`.toLowerCase();
      return { name: `${first} ${last}`, email };
    },
    post(users) {
      const subject = pick(subjects);
      const about = (text: string) => text.replace('{}', subject);
      const body = Array.from({ length: 2 + below(6) }, () => about(pick(sentences)));
      const author = users > 0 ? below(users) : undefined;
      return { input: { title: about(pick(titles)), body: body.join(' ') }, author };
    },
  };
}

/** Numbers from 0 to below 1, the same ones for the same seed (mulberry32, by Tommy Ettinger). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
