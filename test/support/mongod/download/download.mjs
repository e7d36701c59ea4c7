/** Downloads a server binary into the directory given as its argument, and prints the path. */
import { MongoBinary } from 'mongodb-memory-server-core/lib/util/MongoBinary.js';

const [, , downloadDir = '.'] = process.argv;
process.env.MONGOMS_DOWNLOAD_DIR = downloadDir;
try {
  console.log(await MongoBinary.getPath({ downloadDir }));
} catch (error) {
  console.error(error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error));
  process.exitCode = 1;
}
