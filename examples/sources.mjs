// In this repository `rostrum` and `rostrum/…` are the sources beside the examples. Elsewhere they are
// the package, and nothing has to be registered.

import { registerHooks } from 'node:module';
import manifest from '../package.json' with { type: 'json' };

const home = new URL('../', import.meta.url);

registerHooks({
  resolve(name, context, next) {
    const built = manifest.exports[name.replace(/^rostrum/, '.')]?.default;
    if (!/^rostrum(?:$|\/)/.test(name) || built === undefined) return next(name, context);
    const source = built.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    return next(new URL(source, home).href, context);
  },
});
