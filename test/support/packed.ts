import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { node, npm, type Outcome, outcomeOf, start } from './process.ts';
import { copyRepository, repository, temporaryDirectory } from './repository-copy.ts';

/** The package, installed from its tarball into empty projects, like a user would. */
export interface Installed extends AsyncDisposable {
  /** A project with only Rostrum. */
  readonly alone: string;
  /** A project with Rostrum and commander. */
  readonly withCommander: string;
  /** A project with Rostrum and all its peers. */
  readonly withPeers: string;
  /** The packed packages. */
  readonly tarballs: readonly string[];
  /** A project with only the client. */
  readonly withClient: string;
  /** The output of npm for the installation in `alone`. */
  readonly said: string;
}

/** Builds, packs and installs the package without network access. */
export async function installPackage(): Promise<Installed> {
  await using build = await copyRepository();
  const directory = await temporaryDirectory();
  const alone = join(directory.path, 'alone');
  const withCommander = join(directory.path, 'commander');
  const withClient = join(directory.path, 'client');
  const peers = join(directory.path, 'peers');
  const withPeers = join(peers, 'project');

  const packages = ['.', './packages/rostrum-client', './packages/rostrum-admin'];
  must(await npm(['pack', ...packages, '--pack-destination', directory.path], { cwd: build.path }));
  const names = (await readdir(directory.path)).map((name) => join(directory.path, name));
  const [admin = ''] = names.filter((name) => name.includes('rostrum-admin-'));
  const [client = ''] = names.filter((name) => name.includes('rostrum-client-'));
  const core = names.filter((name) => name !== admin && name !== client);

  const install = async (project: string, packages: readonly string[]) => {
    await mkdir(project);
    const manifest = { private: true, type: 'module' };
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
    const args = ['install', '--offline', '--no-audit', '--no-fund', '--omit=peer'];
    return must(await npm([...args, ...packages], { cwd: project }));
  };
  const said = await install(alone, core);
  await install(withClient, [client]);

  // The same, with the packages of this repository in a parent folder, where Node and TypeScript find them.
  for (const project of [withCommander, withPeers]) await cp(alone, project, { recursive: true });
  // The admin page depends on a package in the registry, which is not available here.
  for (const [tarball, name] of [
    [admin, 'rostrum-admin'],
    [client, 'rostrum-client'],
  ] as const) {
    const folder = join(withPeers, 'node_modules', name);
    await mkdir(folder);
    // GNU's tar takes C: for the name of a host.
    const args = ['-xzf', basename(tarball), '-C', folder, '--strip-components=1'];
    must(await outcomeOf(start('tar', args, { cwd: directory.path })));
  }
  const ours = join(repository, 'node_modules');
  await symlink(join(ours, 'commander'), join(withCommander, 'node_modules/commander'), 'junction');
  await symlink(ours, join(peers, 'node_modules'), 'junction');

  return {
    alone,
    tarballs: names,
    withCommander,
    withPeers,
    withClient,
    said,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

function must({ code, output }: Outcome): string {
  if (code !== 0) throw new Error(output);
  return output;
}

/** Writes a module and its tsconfig.json into a project, and type-checks it. */
export async function typeCheck(
  compiler: 'typescript' | 'typescript-5',
  project: string,
  source: string,
  compilerOptions: Readonly<Record<string, unknown>>,
): Promise<Outcome> {
  const folder = join(project, compiler);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'consumer.ts'), source);
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        module: 'nodenext',
        target: 'es2022',
        noEmit: true,
        skipLibCheck: false,
        ...compilerOptions,
      },
      files: ['consumer.ts'],
    }),
  );
  const home = compiler === 'typescript' ? repository : join(repository, 'test', 'third-party');
  const tsc = join(home, 'node_modules', compiler, 'bin', 'tsc');
  return node([tsc, '-p', folder, '--pretty', 'false'], { cwd: project });
}
