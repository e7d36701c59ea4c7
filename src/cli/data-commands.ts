import { type Command, InvalidArgumentError, Option } from 'commander';
import type { StoreSetting } from './failure.ts';
import type { ImportFlags } from './import.ts';
import type { SeedFlags } from './seed.ts';

/** Settings, as the other commands have them. */
export interface SettingOptions {
  optionOf(name: 'store' | 'userSchema' | 'postSchema'): Option;
  storeOf(command: Command): StoreSetting;
}

const imported = `
FILE is JSON ({"users": […], "posts": […]} or an array), JSON Lines (.jsonl), an
export (.jsonl, without --as) or CSV with a header (.csv). Posts keep their authors.
Without --keep-ids, records get new ids. All of FILE is checked before anything is
added. A second import makes records a second time; it is refused where an email
address or a kept id is taken by then.`;

/** Adds the commands that bring records into a store: import and seed. */
export function addDataCommands(program: Command, { optionOf, storeOf }: SettingOptions): void {
  program
    .command('import <file>')
    .description('add users and posts from JSON, JSON Lines or CSV')
    .addOption(optionOf('store'))
    .addOption(optionOf('userSchema'))
    .addOption(optionOf('postSchema'))
    .addOption(
      new Option('--as <list>', 'what an array, JSON Lines or CSV holds').choices([
        'users',
        'posts',
      ]),
    )
    .option('--map <from=to>', 'name a field: userId=authorId; may be given again', listed)
    .option('--keep-ids', 'keep ids, createdAt and updatedAt')
    .option('--skip-invalid', 'add the other records when some are refused')
    .addHelpText('after', `${imported}\nA server may run meanwhile.`)
    .action(async (file: string, options: ImportFlags, command: Command) => {
      const { importCommand } = await import('./import.ts');
      await importCommand(file, storeOf(command), options);
    });

  program
    .command('seed')
    .description('add users and posts to play with')
    .addOption(optionOf('store'))
    .addOption(optionOf('userSchema'))
    .addOption(optionOf('postSchema'))
    .option('--users <number>', 'how many users', count, 10)
    .option('--posts <number>', 'how many posts', count, 100)
    .addHelpText('after', '\nA server may run meanwhile.')
    .action(async (options: SeedFlags, command: Command) => {
      const { seedCommand } = await import('./seed.ts');
      await seedCommand(storeOf(command), options);
    });
}

function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('The value must be a whole number from 0 to 999999999.');
}
