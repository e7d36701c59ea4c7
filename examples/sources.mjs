// In this repository, `rostrum`, `rostrum/…` and `rostrum-client` are the sources beside the examples. Elsewhere they
// are the packages, and nothing has to be registered.

import { registerHooks } from 'node:module';
import manifest from '../package.json' with { type: 'json' };

const home = new URL('../', import.meta.url);
const client = new URL('packages/rostrum-client/src/index.ts', home);

registerHooks({
  resolve(name, context, next) {
    if (name === 'rostrum-client') return next(client.href, context);
    const built = manifest.exports[name.replace(/^rostrum/, '.')]?.default;
    if (!/^rostrum(?:$|\/)/.test(name) || built === undefined) return next(name, context);
    const source = built.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    return next(new URL(source, home).href, context);
  },
});
