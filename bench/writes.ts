import { createRostrum } from '../src/index.ts';
import { inputAt } from './data.ts';
import type { Options } from './options.ts';
import { say } from './progress.ts';
import { type Report, table } from './results.ts';
import { interleave, ratios, spread } from './rounds.ts';
import { open, type Workspace } from './workspace.ts';

const callers = { one: 1, many: 64 };

/** What shared commits are worth on SQLite: creates a second, one at a time and many at once. */
export async function measureWrites(options: Options, workspace: Workspace): Promise<Report> {
  say('writes');
  await using store = await open((await workspace.newStore('SQLite')) ?? '');
  const rostrum = createRostrum(store);
  const author = await rostrum.users.create({ name: 'An author' });
  const input = { ...inputAt(0), authorId: author.record.id };
  const rates = await interleave(options.rounds, ['one', 'many'] as const, async (name) => {
    const start = performance.now();
    let made = 0;
    const work = async () => {
      while (performance.now() - start < options.busyMs * 2) {
        await rostrum.posts.create(input);
        made += 1;
      }
    };
    await Promise.all(Array.from({ length: callers[name] }, work));
    return { rate: (made / (performance.now() - start)) * 1000 };
  });
  const [one, many] = [rates.one.rate, rates.many.rate];
  const head = ['one at a time', `${callers.many} at once`, `${callers.many} at once / one`];
  const row = [spread(one, 0), spread(many, 0), spread(ratios(many, one), 1)];
  const markdown = `Durable posts a second through the core:\n\n${table(head, [row])}`;
  return { markdown, data: { writes: [rates] } };
}
