import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { npm } from './support/process.ts';
import { copyRepository } from './support/repository-copy.ts';

// Adds a violation of each part of `npm run check` to a copy of the repository. Each must be reported with its
// file.
const violations = [
  {
    file: 'src/domain/planted-package.ts',
    text: "export * from 'inversify';\n",
    says: [
      /planted-package\.ts\(1,\d+\): error TS2306/,
      /planted-package\.ts:1 may not import inv/,
    ],
  },
  {
    file: 'src/adapters/memory/planted-adapter.ts',
    text: "export const a = () => import('../http/index.ts');\n",
    says: [/planted-adapter\.ts:1 may not import src\/adapters\/http\/index\.ts/],
  },
  {
    file: 'src/settings/planted-store.ts',
    text: "export * from '../adapters/memory/index.ts';\n",
    says: [/planted-store\.ts:1 may not import src\/adapters\/memory\/index\.ts/],
  },
  {
    file: 'src/adapters/http/planted-settings.ts',
    text: "export * from '../../settings/index.ts';\n",
    says: [/planted-settings\.ts:1 may not import src\/settings\/index\.ts/],
  },
  {
    file: 'src/adapters/http/lists/planted-endpoint.ts',
    text: "export * from '../endpoints/users.ts';\n",
    says: [/planted-endpoint\.ts:1 may not import src\/adapters\/http\/endpoints\/users\.ts/],
  },
  {
    file: 'src/ports/planted-any.ts',
    text: 'export const a = (b: any): unknown => b;\n',
    says: [/planted-any\.ts:1:\d+ lint\/suspicious\/noExplicitAny/, /^src\/ports\/planted-any/m],
  },
];

describe('the import boundaries', function () {
  this.timeout(120_000);

  it('make `npm run check` fail with the file of each violation', async () => {
    await using copy = await copyRepository();
    for (const { file, text } of violations) await writeFile(join(copy.path, file), text);
    let all = '';
    for (const part of ['build', 'check:style', 'check:walls', 'check:unused']) {
      const { code, output } = await npm(['run', part], { cwd: copy.path });
      expect(code, output).to.not.equal(0);
      all += output;
    }
    for (const words of violations.flatMap(({ says }) => says)) expect(all).to.match(words);
  });
});
