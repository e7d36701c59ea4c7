import { expect } from 'chai';
import { createFetchHandler } from '../../../src/adapters/http/fetch/index.ts';
import {
  createApp,
  rostrumListener,
  rostrumMiddleware,
  serve,
} from '../../../src/adapters/http/index.ts';
import { createMcpHandler } from '../../../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { errorOf } from '../../support/error-of.ts';

/** Options as JavaScript hosts misspell them, and what they meant; undefined if nothing is similar. */
const misspelled: readonly [string, string | undefined][] = [
  ['authentication', 'authenticate'],
  ['Authenticate', 'authenticate'],
  ['authentcate', 'authenticate'],
  ['autenticate', 'authenticate'],
  ['auth', undefined],
  ['anonymus', 'anonymous'],
  ['anonymousScopes', undefined],
  ['requireIfmatch', 'requireIfMatch'],
  ['requiresIfMatch', 'requireIfMatch'],
  ['rateLimit', 'rateLimits'],
  ['ratelimits', 'rateLimits'],
  ['trustProxy', undefined],
  ['trustedProxy', 'trustedProxies'],
  ['corse', 'cors'],
  ['Cors', 'cors'],
  ['prefx', 'prefix'],
  ['publicURL', 'publicUrl'],
  ['acessLog', 'accessLog'],
  ['log', undefined],
];

describe('an unknown option', () => {
  const rostrum = createRostrum(createMemoryStore());
  const hosts: Readonly<Record<string, (options: object) => unknown>> = {
    rostrumMiddleware: (options) => rostrumMiddleware(rostrum, options),
    rostrumListener: (options) => rostrumListener(rostrum, options),
    createFetchHandler: (options) => createFetchHandler(rostrum, options),
    createApp: (options) => createApp(rostrum, { ready: async () => {}, ...options }),
  };
  for (const [name, create] of Object.entries(hosts)) {
    it(`is rejected by ${name}, with the name that was meant`, () => {
      for (const [option, meant] of misspelled) {
        const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
        const sentence = `Unknown name "${option}" in the options.${hint} Known names: `;
        expect(() => create({ [option]: () => null }), option).to.throw(TypeError, sentence);
      }
      expect(() => create({ rateLimits: { adress: null } })).to.throw(TypeError, '"address"?');
    });
  }

  it('is rejected by serve, in its limits too', async () => {
    const app = createApp(rostrum, { ready: async () => {} });
    for (const options of [{ prot: 0 }, { hostname: 'x' }, { limits: { headerTimeoutMs: 1 } }]) {
      const error = await errorOf(serve(app, { port: 0, ...(options as object) }));
      expect(error).to.be.instanceOf(TypeError);
    }
  });

  it('is rejected by createMcpHandler', () => {
    const create = (options: object) => () => createMcpHandler(rostrum, options);
    expect(create({ delete: true })).to.throw(TypeError, 'Did you mean "deletes"?');
    expect(create({ customFields: { post: {} } })).to.throw(TypeError, 'Did you mean "posts"?');
    expect(create({ authenticate: () => null })).to.throw(TypeError, 'Unknown name');
  });
});
