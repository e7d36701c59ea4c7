// Loaded before the tests of the bundle: redirects imports of modules of `src` to the bundle in ROSTRUM_MODULES.

import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const source = new URL('../../src/', import.meta.url).href;
const bundle = pathToFileURL(`${process.env.ROSTRUM_MODULES}/dist/`).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const found = nextResolve(specifier, context);
    if (!found.url.startsWith(source)) return found;
    const path = found.url.slice(source.length).replace(/\.ts$/, '.js');
    return { ...found, url: bundle + path, format: 'module' };
  },
});
