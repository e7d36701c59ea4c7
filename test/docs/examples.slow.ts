// Runs every example in the documentation. EXAMPLES_NODE also runs the programs on another version of Node,
// which npm installs in a temporary directory:
//
//   EXAMPLES_NODE=22.18.0 npx mocha test/docs/examples.slow.ts

import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { installNode } from '../support/install-node.ts';
import { whenFree } from '../support/parallel.ts';
import { node, type Outcome, outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { type Server, startServer } from '../support/server.ts';
import { blocksOf, shown, stepsOf } from './markdown.ts';

/** Inside the package, so that `rostrum` resolves to the built package itself. */
const folder = join(repository, '.cache', 'examples');
const bin = (...path: string[]) => join(repository, 'node_modules', ...path);
/** The packages that the examples import, in addition to those of this repository. */
const thirdParty = join(repository, 'test', 'third-party', 'node_modules');
const tsc = bin('typescript', 'bin', 'tsc');
/** Runs the JavaScript examples, which are for Deno. */
const deno = [
  join(thirdParty, 'deno', 'bin.cjs'),
  'run',
  '--allow-all',
  '--no-lock',
  '--node-modules-dir=manual',
];

/** Shell commands that are tested elsewhere, and where. */
const shellExamples = new Map([
  ['npm ci && npm start', 'test/main.slow.ts starts the program with npm start'],
  ['npm cit', 'runs this test'],
  [
    'npm ci --omit=dev && npm start',
    'test/package.slow.ts compares what it installs with what the program needs',
  ],
]);

/** The commands that import data into a clone. */
const importData = blocksOf('README.md', 'sh').find(({ text }) => text.includes('npm pack'))?.text;

/** The commands that install the packages. scripts/release/installs.ts runs them. */
const installing = blocksOf('README.md', 'sh').find(({ text }) => text.includes('tarballs'))?.text;

/** The commands that set up a blog. */
const blog = blocksOf('README.md', 'sh').find(({ text }) => text.includes('--anonymous'))?.text;
const api = 'http://127.0.0.1:3000/api/v1';

/** Replaces npm: provides a package like the one that is fetched, and starts the program of this clone. */
const fakeNpm = `npm() {
  if [ "$1" = start ]; then shift 2 && "$NODE" "$MAIN" "$@"; return; fi
  [ "$1 $3 $5" = 'pack --pack-destination jsonplaceholder' ] && mkdir package &&
    echo '{"users":[{"id":1,"name":"Ada"}],"posts":[{"title":"On engines","userId":1}]}' > package/data.json &&
    tar -czf "$4/jsonplaceholder-0.3.3.tgz" package && rm -r package
}
set -e
`;

/** The pages with examples that run, each with the output that the page shows. */
const pages = [
  'README.md',
  'docs/architecture.md',
  'docs/embedding.md',
  'docs/library.md',
  'docs/mcp.md',
  'docs/writing-a-store.md',
];
const isSuite = (text: string) => text.includes("from 'mocha'");
const examples = pages.flatMap((page) =>
  blocksOf(page).flatMap(({ language, text, line }, i, blocks) => {
    if ((language !== 'ts' && language !== 'js') || isSuite(text)) return [];
    const next = blocks[i + 1];
    const output = next?.language === 'text' ? next.text : undefined;
    const name = `${page.replace(/\W/g, '-')}-${line}.${language}`;
    return [{ file: join(folder, name), isDeno: language === 'js', page, line, text, output }];
  }),
);
/** Parts of programs, which are only compiled here. moving-in.slow.ts runs them. */
const parts = ['moving-in'].flatMap((name) =>
  blocksOf(`docs/${name}.md`, 'ts').map(({ text, line }) => ({
    file: join(folder, `${name}-${line}.ts`),
    text,
  })),
);
const store = {
  file: join(folder, 'writing-a-store.ts'),
  text: blocksOf('docs/writing-a-store.md', 'ts').find(({ text }) => isSuite(text))?.text ?? '',
};

describe('the examples in the documentation', function () {
  this.timeout(180_000);
  let compiled: Promise<Outcome>;
  let suite: Promise<Outcome>;

  before(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    symlinkSync(thirdParty, join(folder, 'node_modules'), 'junction');
    for (const { file, text } of [...examples, ...parts, store]) writeFileSync(file, text);
    copyFileSync(
      join(repository, 'examples', 'file-store', 'index.ts'),
      join(folder, 'file-store.ts'),
    );
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: { composite: false, noEmit: true, types: ['node', 'mocha'] },
      include: ['*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const built = await node([tsc, '-b', join(repository, 'src')], { cwd: repository });
    expect(built.output).to.equal('');
    const mocha = [
      bin('mocha', 'bin', 'mocha.js'),
      '--no-config',
      '--reporter',
      'dot',
      '--timeout',
      '60000',
    ];
    suite = whenFree(() => node([...mocha, store.file], { cwd: repository }));
    compiled = whenFree(() => node([tsc, '-p', folder], { cwd: folder }));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('compile', async () => {
    expect((await compiled).output).to.equal('');
  });

  for (const version of [process.versions.node, process.env.EXAMPLES_NODE]) {
    if (version === undefined) continue;
    describe(`on Node ${version}`, () => {
      let outcomes: Promise<Outcome>[];
      before(async () => {
        const binary =
          version === process.versions.node ? process.execPath : await installNode(version, folder);
        const options = { cwd: folder, env: { DENO_NO_UPDATE_CHECK: '1' } };
        outcomes = examples.map(({ file, isDeno }) =>
          whenFree(() => outcomeOf(start(binary, isDeno ? [...deno, file] : [file], options))),
        );
      });

      for (const [i, { page, line, output }] of examples.entries()) {
        it(`${page}, line ${line}${output === undefined ? '' : ', prints the output shown'}`, async () => {
          const outcome = await outcomes[i];
          expect(outcome?.code, outcome?.output).to.equal(0);
          if (output !== undefined) expect(outcome?.stdout).to.match(shown(output));
        });
      }
    });
  }

  it('have a test for each shell command', () => {
    const shell = blocksOf('README.md', 'sh').map(({ text }) => text.trim());
    const scripts = [importData, blog, installing].map((text) => text?.trim());
    expect(shell).to.have.members([...shellExamples.keys(), ...scripts]);
  });

  it('set up a blog that anyone can read and a key can write, in five commands', async () => {
    expect(blog?.trim().split('\n')).to.have.length(5);
    await using clone = await temporaryDirectory();
    const port = String(await freePort());
    const MAIN = join(repository, 'src', 'main.ts');
    const options = { cwd: clone.path, env: { NODE: process.execPath, MAIN, PORT: port } };
    // Replaces npm: starts the program of this clone.
    const npmStart = `npm() { [ "$2" = --silent ] && shift; shift 2; exec "$NODE" "$MAIN" "$@"; }`;
    const post = `curl -s -o post -w '%{http_code}\\n' ${api}/posts -H 'Content-Type: application/json' -d`;
    const more = [
      'echo',
      `${post} '{"title": "Without a key"}' > statuses`,
      `${post} '{"title": "Again", "slug": "hello"}' -H "Authorization: Bearer $key" >> statuses`,
      'kill %1',
      'wait',
    ];
    const script = [npmStart, 'set -e', blog, ...more].join('\n');
    const run = start('bash', ['-c', script.replaceAll(':3000', `:${port}`)], options);
    const { stdout, output } = await outcomeOf(run);
    const [seen] = blocksOf('README.md', 'json').map(({ text }) => text);
    expect(stdout.trimEnd().split('\n').at(-1), output).to.match(shown(seen ?? 'nothing'));
    expect(readFileSync(join(clone.path, 'statuses'), 'utf8')).to.equal('401\n409\n');
    expect(readFileSync(join(clone.path, 'post'), 'utf8')).to.include('"field-taken"');
  });

  it('import data into a clone, and leave only files that Git ignores', async () => {
    await using clone = await temporaryDirectory();
    const options = {
      cwd: clone.path,
      env: { NODE: process.execPath, MAIN: join(repository, 'src', 'main.ts') },
    };
    const run = (script: string) => outcomeOf(start('bash', ['-c', script], options));
    copyFileSync(join(repository, '.gitignore'), join(clone.path, '.gitignore'));
    const { code, stdout, output } = await run(`${fakeNpm}${importData}`);
    expect(code, output).to.equal(0);
    expect(stdout).to.match(/^Added 1 user and 1 post\n(?:.*\n)*Added 10 users and 100 posts\n/);
    const { stdout: seen } = await run('git init --quiet && git status --porcelain');
    expect(seen).to.equal('?? .gitignore\n');
  });

  for (const page of ['README.md', 'docs/http.md']) {
    describe(`the console examples in ${page}`, () => {
      const steps = blocksOf(page, 'console').flatMap(stepsOf);
      const mark = '=====end-of-step=====\n';
      let server: Server;
      let outputs: string[];

      before(async () => {
        server = await startServer('--store', 'memory:');
        // One shell for all commands, so that they share variables. The second run starts with the data of the
        // first, at least a second later, so that `date` differs.
        const script = steps.map(({ command }) => `${command}\necho; echo -n '${mark}'`).join('\n');
        const address = 'http://127.0.0.1:3000';
        const twice = `for time in 1 2; do\n${script}\nsleep 1\ndone`;
        const args = ['-c', twice.replaceAll(address, server.address)];
        const { stdout } = await outcomeOf(start('bash', args, { cwd: repository }));
        outputs = stdout.replaceAll('\r', '').replaceAll(server.address, address).split(mark);
      });
      after(() => server.stop());

      for (const [i, { command, expected, line }] of steps.entries()) {
        it(`line ${line}: ${command.slice(0, 60)}`, () => {
          expect(outputs[i], 'the first time').to.match(shown(expected));
          expect(outputs[i + steps.length], 'the second time').to.match(shown(expected));
        });
      }

      it('need no curl newer than 7.81', () => {
        const newer = /--json|--url-query|--variable|%header\{|%\{header_json/;
        expect(steps.filter(({ command }) => newer.test(command))).to.deep.equal([]);
      });
    });
  }

  it('check a store with the contract suite (docs/writing-a-store.md)', async () => {
    const { code, output } = await suite;
    expect(code, output).to.equal(0);
    expect(output)
      .to.match(/\d{2,} passing/)
      .and.not.match(/pending/);
  });
});
