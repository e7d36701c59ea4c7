import { expect } from 'chai';
import { createFetchHandler } from '../../../src/adapters/http/fetch/index.ts';
import {
  createApp,
  type RostrumAppOptions,
  rostrumListener,
  rostrumMiddleware,
  serve,
} from '../../../src/adapters/http/index.ts';
import { createMcpHandler } from '../../../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { errorOf } from '../../support/error-of.ts';
import { documentOf } from './support/description.ts';

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

describe('an unknown or invalid option', () => {
  const rostrum = createRostrum(createMemoryStore());
  const hosts: Readonly<Record<string, (options: object) => unknown>> = {
    rostrumMiddleware: (options) => rostrumMiddleware(rostrum, options),
    rostrumListener: (options) => rostrumListener(rostrum, options),
    createFetchHandler: (options) => createFetchHandler(rostrum, options),
    createApp: (options) => createApp(rostrum, { ready: async () => {}, ...options }),
  };
  for (const [name, create] of Object.entries(hosts)) {
    it(`is rejected by ${name} if unknown, with the name that was meant`, () => {
      for (const [option, meant] of misspelled) {
        const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
        const sentence = `Unknown name "${option}" in the options.${hint} Known names: `;
        expect(() => create({ [option]: () => null }), option).to.throw(TypeError, sentence);
      }
      expect(() => create({ rateLimits: { adress: null } })).to.throw(TypeError, '"address"?');
    });
  }

  const invalid: readonly [object, string][] = [
    [{ anonymous: ['posts:raed'] }, '"posts:raed" is not a scope.'],
    [{ anonymous: 'posts:read' }, 'The option "anonymous" must be an array.'],
    [{ rateLimits: { address: {} } }, 'rateLimits.address must be a limiter'],
    [{ rateLimits: { caller: null } }, 'rateLimits.caller must be a limiter'],
    [{ requireIfMatch: 'false' }, 'The option "requireIfMatch" must be a boolean.'],
    [{ metrics: {} }, 'must be an object with the methods requestBegan,'],
    [{ logger: console.log }, 'must be a logger with the methods info,'],
    [{ cors: '*' }, 'The option "cors" must be an array.'],
    [{ trustedProxies: '' }, 'must be a number or an array.'],
    [{ authenticate: null }, 'The option "authenticate" must be a function.'],
    [{ publicUrl: 'example.com' }, 'The public URL must be like'],
    [{ trustedProxies: -1 }, 'must be a whole number from 0'],
  ];
  const invalidInApps: readonly [object, string][] = [
    [{ pages: ['hom'] }, 'Unknown name "hom" in the pages. Did you mean "home"?'],
    [{ customFields: { user: {} } }, 'Did you mean "users"?'],
    [{ about: { stor: 1 } }, 'Did you mean "store"?'],
    [{ about: null }, 'The option "about" must be an object.'],
    [{ ready: true }, 'The option "ready" must be a function.'],
  ];
  for (const [name, create] of Object.entries(hosts)) {
    it(`is rejected by ${name} if its value is invalid`, () => {
      for (const [options, sentence] of name === 'createApp'
        ? [...invalid, ...invalidInApps]
        : invalid) {
        expect(() => create(options), sentence).to.throw(TypeError, sentence);
      }
    });
  }

  it('is rejected by createApp if it is required and missing', () => {
    expect(() => createApp(rostrum, {} as RostrumAppOptions)).to.throw(
      TypeError,
      '"ready" is missing',
    );
  });

  it('is rejected by openApiDocument', () => {
    expect(() => documentOf({ prefx: '/x' } as object)).to.throw(TypeError, '"prefix"?');
    for (const [options, sentence] of invalidInApps) {
      expect(() => documentOf(options), sentence).to.throw(TypeError, sentence);
    }
  });

  it('is rejected by serve, in its limits too', async () => {
    const app = createApp(rostrum, { ready: async () => {} });
    const limits = { maxConnections: Number.NaN };
    for (const options of [
      ...[{ prot: 0 }, { hostname: 'x' }, { limits: { headerTimeoutMs: 1 } }],
      ...[
        { limits },
        { limits: null },
        { logger: {} },
        { metrics: {} },
        { shutdownTimeoutMs: 'x' },
      ],
    ]) {
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
