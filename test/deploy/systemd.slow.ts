import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { blocksOf } from '../docs/markdown.ts';
import { outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';

/** The id of a user and a group that own no files here. */
const id = 64_123;
const as = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups'];

/** Whether this test can run as another user, who can read the program. */
function canBeAnother(): boolean {
  const main = join(repository, 'src/main.ts');
  return spawnSync('setpriv', [...as, '/usr/bin/test', '-r', main]).status === 0;
}

describe('the systemd service', function () {
  this.timeout(120_000);

  /**
   * Returns the commands in docs/deploying.md that create the settings folder and the key file, with local
   * paths.
   */
  function commands(settings: string): { folder: string; key: string; access: string } {
    const page = blocksOf('docs/deploying.md', 'sh').find(({ text }) => text.includes('useradd'));
    const own = (page?.text ?? '')
      .replaceAll('/etc/rostrum', settings)
      .replaceAll('/opt/rostrum', repository)
      .replaceAll('--group=rostrum', `--group=${id}`)
      .replaceAll('chgrp rostrum', `chgrp ${id}`)
      .replaceAll(/^node /gm, `${process.execPath} `)
      .split('\n');
    const those = (...words: string[]) =>
      own.filter((line) => words.includes(line.split(' ', 1)[0] ?? '')).join('\n');
    return {
      folder: those('install'),
      key: those('cd', process.execPath),
      access: those('chgrp', 'chmod'),
    };
  }

  it('starts after the setup in docs/deploying.md, but not if only root can read the key file', async function () {
    if (!canBeAnother()) return this.skip();
    await using folder = await temporaryDirectory();
    chmodSync(folder.path, 0o755);
    const [settings, state] = [join(folder.path, 'etc'), join(folder.path, 'state')];
    const run = (script: string) =>
      execFileSync('sh', ['-ec', script], { encoding: 'utf8', stdio: 'pipe' });
    // systemd creates this folder.
    mkdirSync(state, { mode: 0o700 });
    chownSync(state, id, id);
    const unit = readFileSync(join(repository, 'deploy/rostrum.service'), 'utf8');
    const given = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value = '']) => [
      name,
      value.replace('/var/lib/rostrum', state).replace('/etc/rostrum', settings),
    ]);
    expect(given.map(([name]) => name)).to.include.members(['STORE_URL', 'AUTH_KEYS']);
    const begin = () =>
      start('setpriv', [...as, process.execPath, 'src/main.ts'], {
        cwd: repository,
        env: Object.fromEntries(given),
      });

    const { folder: make, key, access } = commands(settings);
    run(make);
    const token = run(key).trim();
    const early = await outcomeOf(begin());
    expect([early.code, early.stderr.includes('cannot be read.')]).to.deep.equal([1, true]);

    run(access);
    const server = begin();
    const ended = outcomeOf(server);
    const line = await Promise.race([
      once(createInterface({ input: server.stdout }), 'line').then(([text]) => String(text)),
      ended.then(({ stderr }) => stderr),
    ]);
    const address = /http:\/\/\S+/.exec(line)?.[0];
    expect(address, line).to.be.a('string');
    const asked = await fetch(`${address}/api/v1/users`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(asked.status).to.equal(200);
    expect(existsSync(join(state, 'rostrum.db'))).to.equal(true);
    // The service can read its keys, but can only write its data.
    for (const path of [settings, join(settings, 'keys'), join(repository, 'src')]) {
      expect(spawnSync('setpriv', [...as, '/usr/bin/test', '-w', path]).status, path).to.equal(1);
    }
    const others = ['--reuid=64124', '--regid=64124', '--clear-groups', '/usr/bin/test', '-x'];
    expect(spawnSync('setpriv', [...others, settings]).status).to.equal(1);
    server.kill('SIGTERM');
    expect((await ended).code).to.equal(0);
  });
});
