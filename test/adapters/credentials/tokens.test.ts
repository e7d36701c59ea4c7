import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  base64url,
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';
import { CredentialsUnavailable } from '../../../src/adapters/credentials/index.ts';
import { Tokens } from '../../../src/adapters/credentials/tokens.ts';
import { callerOf } from '../../support/caller-of.ts';

const issuer = 'https://id.example.com';
const audience = 'https://api.example.com';

describe('tokens of an identity provider', () => {
  let keys: { publicKey: CryptoKey; privateKey: CryptoKey };
  let provider: Server;
  let jwksUrl: string;
  let fetches = 0;
  let status = 200;
  let jwk: object;
  let published: object[];
  const dateNow = Date.now;
  /** Advances the verifier's clock. */
  const passMinutes = (minutes: number) => {
    const clock = Date.now;
    Date.now = () => clock() + minutes * 60_000;
  };

  before(async () => {
    keys = await generateKeyPair('ES256', { extractable: true });
    jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
    published = [jwk];
    provider = createServer((_request, response) => {
      fetches += 1;
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ keys: published }));
    });
    await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
    jwksUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`;
  });
  after(() => provider.close());
  afterEach(() => {
    Date.now = dateNow;
    status = 200;
    published = [jwk];
  });

  const tokens = (options: object = {}) => new Tokens({ issuer, audience, jwksUrl, ...options });
  const now = () => Math.floor(Date.now() / 1000);
  const good = () => ({
    ...{ iss: issuer, aud: audience, sub: 'ada', exp: now() + 60, iat: now() },
    scope: 'users:read posts:write:own openid',
  });
  const header: JWTHeaderParameters = { alg: 'ES256', kid: 'k1', typ: 'at+jwt' };
  const sign = (
    payload: object,
    more: object = {},
    key: CryptoKey | Uint8Array = keys.privateKey,
  ) => new SignJWT({ ...payload }).setProtectedHeader({ ...header, ...more }).sign(key);

  /** Creates two keys with the same kid, and functions that sign tokens with them. */
  const rotation = async (kid: string | undefined) => {
    const next = await generateKeyPair('ES256', { extractable: true });
    const published = async (key: CryptoKey) => ({ ...(await exportJWK(key)), kid, alg: 'ES256' });
    return {
      first: await published(keys.publicKey),
      second: await published(next.publicKey),
      old: () => sign(good(), { kid }),
      fresh: () => sign(good(), { kid }, next.privateKey),
    };
  };

  it('become callers with the scopes that Rostrum knows', async () => {
    expect(await callerOf(tokens(), await sign(good()))).to.deep.equal({
      name: 'token:ada',
      subject: 'ada',
      scopes: new Set(['users:read', 'posts:write:own']),
    });
    const scp = { ...good(), scope: undefined, scp: ['posts:read'] };
    expect((await callerOf(tokens(), await sign(scp)))?.scopes).to.deep.equal(
      new Set(['posts:read']),
    );
  });

  it('take the user from the configured claim', async () => {
    const own = tokens({ subjectClaim: 'rostrum_id' });
    const named = await callerOf(own, await sign({ ...good(), rostrum_id: 'u1' }));
    expect([named?.name, named?.subject]).to.deep.equal(['token:ada', 'u1']);
    expect((await callerOf(own, await sign(good())))?.subject).to.equal(null);
  });

  it('are rejected if the subject is blank or not a string', async () => {
    const verifier = tokens({ subjectClaim: 'rostrum_id' });
    for (const name of [42, { a: 1 }, ['x'], null, true, ' ', '']) {
      for (const claim of ['sub', 'rostrum_id']) {
        const token = await sign({ ...good(), [claim]: name });
        expect(await callerOf(verifier, token), `${claim} ${name}`).to.equal(undefined);
      }
    }
  });

  it('are verified once, and rejected after they expire', async () => {
    const verifier = tokens();
    const token = await sign({ ...good(), exp: now() - 28 });
    const first = await callerOf(verifier, token);
    expect(first?.name).to.equal('token:ada');
    expect(await callerOf(verifier, token)).to.equal(first);
    await sleep(2500);
    expect(await callerOf(verifier, token)).to.equal(undefined);
  });

  it('are rejected with the reason if any part is invalid', async () => {
    const other = await generateKeyPair('ES256', { extractable: true });
    const rsa = await generateKeyPair('RS256', { extractable: true });
    const pem = new TextEncoder().encode(await exportSPKI(keys.publicKey));
    const body = base64url.encode(JSON.stringify(good()));
    const unsigned = (alg: string, more = {}) =>
      `${base64url.encode(JSON.stringify({ ...header, alg, ...more }))}.${body}.`;
    const jwk = await exportJWK(other.publicKey);
    const wrong: Record<string, (readonly [what: string, token: Promise<string> | string])[]> = {
      alg: [
        ['the algorithm none', unsigned('none')],
        ['the algorithm None', unsigned('None')],
        ['a symmetric signature with the public key', sign(good(), { alg: 'HS256' }, pem)],
      ],
      signature: [
        ['another key', sign(good(), {}, other.privateKey)],
        ['a key embedded in the header', sign(good(), { jwk }, other.privateKey)],
        ['a key URL in the header', sign(good(), { jku: jwksUrl }, other.privateKey)],
        ['an invalid signature', 'x.y.z'],
      ],
      kid: [
        ['an unknown kid', sign(good(), { kid: 'k2' })],
        ['another algorithm', sign(good(), { alg: 'RS256' }, rsa.privateKey)],
      ],
      exp: [
        ['an expired token', sign({ ...good(), exp: now() - 31 })],
        ['no expiry', sign({ ...good(), exp: undefined })],
      ],
      nbf: [['a token that is not valid yet', sign({ ...good(), nbf: now() + 90 })]],
      iat: [['a token issued in the future', sign({ ...good(), iat: now() + 90 })]],
      aud: [
        ['another audience', sign({ ...good(), aud: 'https://other.example.com' })],
        ['no audience', sign({ ...good(), aud: undefined })],
      ],
      iss: [['another issuer', sign({ ...good(), iss: 'https://evil.example.com' })]],
      sub: [
        ['no subject', sign({ ...good(), sub: undefined })],
        ['an empty subject', sign({ ...good(), sub: '' })],
      ],
      typ: [
        ...['nonce', 'at_hash', 'c_hash'].map(
          (claim) => [`an ID token with ${claim}`, sign({ ...good(), [claim]: 'x' })] as const,
        ),
        ['an ID token from Keycloak', sign({ ...good(), typ: 'ID' })],
        ['an ID token from Cognito', sign({ ...good(), token_use: 'id' })],
        ['another type', sign(good(), { typ: 'logout+jwt' })],
        ['no type', sign(good(), { typ: undefined })],
      ],
      cnf: [['a sender-constrained token', sign({ ...good(), cnf: { jkt: 'x' } })]],
      malformed: [
        ['a critical header', unsigned('ES256', { crit: ['exp'] })],
        ['not a token', 'x.y.eg'],
        ['an empty string', ''],
      ],
    };
    const verifier = tokens();
    expect(await callerOf(verifier, await sign(good()))).not.to.equal(undefined);
    for (const [reason, refused] of Object.entries(wrong)) {
      for (const [what, token] of refused) {
        expect(await verifier.authenticate(await token), what).to.deep.equal({ refused: reason });
      }
    }
  });

  it('are rejected if any character is changed', async () => {
    const verifier = tokens();
    const token = await sign(good());
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
    for (let n = 0; n < 1000; n++) {
      // Often the last character, some of whose bits base64url ignores.
      const at = n % 10 === 0 ? token.length - 1 : Math.floor(Math.random() * token.length);
      const letter = letters[Math.floor(Math.random() * letters.length)] ?? '';
      const mutated = token.slice(0, at) + letter + token.slice(at + 1);
      if (mutated === token) continue;
      expect(await callerOf(verifier, mutated), mutated).to.equal(undefined);
    }
  });

  for (const kid of ['k1', undefined]) {
    it(`are verified with a rotated key that has ${kid === undefined ? 'no' : 'the same'} kid`, async () => {
      const { first, second, old, fresh } = await rotation(kid);
      published = [first];
      const verifier = tokens();
      expect(await callerOf(verifier, await old())).not.to.equal(undefined);
      published = [second];
      const asked = fetches;
      expect(await callerOf(verifier, await fresh()), 'cooldown').to.equal(undefined);
      expect(fetches).to.equal(asked);
      passMinutes(1);
      expect(await callerOf(verifier, await fresh())).not.to.equal(undefined);
      expect(await callerOf(verifier, await old())).to.equal(undefined);
      expect(fetches, 'one fetch for both').to.equal(asked + 1);
    });
  }

  it('are verified with a new key that arrives during verification', async () => {
    const { verify } = crypto.subtle;
    const { first, second, old, fresh } = await rotation('k1');
    try {
      published = [first];
      const verifier = tokens();
      await callerOf(verifier, await old());
      published = [second];
      passMinutes(6);
      const asked = fetches;
      crypto.subtle.verify = async (...args: Parameters<typeof verify>) => {
        while (fetches === asked) await sleep(5);
        await sleep(50);
        return verify.apply(crypto.subtle, args);
      };
      expect(await callerOf(verifier, await fresh())).not.to.equal(undefined);
      expect(fetches).to.equal(asked + 1);
    } finally {
      crypto.subtle.verify = verify;
      published = [jwk];
    }
  });

  it('are rejected within 10 minutes after their key is withdrawn', async () => {
    const { first, second, old } = await rotation('k1');
    published = [first];
    const verifier = tokens();
    const token = await old();
    await callerOf(verifier, token);
    published = [{ ...second, kid: 'k2' }];
    const asked = fetches;
    passMinutes(8.9);
    expect(await callerOf(verifier, token), 'without waiting for keys').not.to.equal(undefined);
    while (fetches === asked) await sleep(5);
    passMinutes(1);
    expect(await callerOf(verifier, token)).to.equal(undefined);
  });

  it('wait for fresh keys after a period without requests', async () => {
    const { first, second, old } = await rotation('k1');
    published = [first];
    const verifier = tokens();
    await callerOf(verifier, await old());
    published = [{ ...second, kid: 'k2' }];
    passMinutes(9);
    expect(await callerOf(verifier, await old())).to.equal(undefined);
  });

  it('are verified with the known keys during an outage of the provider', async () => {
    const verifier = tokens();
    await callerOf(verifier, await sign(good()));
    status = 503;
    const asked = fetches;
    expect(await callerOf(verifier, await sign(good(), { kid: 'k9' }))).to.equal(undefined);
    expect(fetches, 'no fetch within the cooldown').to.equal(asked);
    for (const minutes of [6, 10, 60, 24 * 60]) {
      passMinutes(minutes);
      expect(await callerOf(verifier, await sign(good()))).not.to.equal(undefined);
    }
    expect(fetches).to.be.greaterThan(asked);
  });

  it('cannot be verified until keys have been fetched', async () => {
    const token = await sign(good());
    status = 503;
    const verifier = tokens();
    const error = await callerOf(verifier, token).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(CredentialsUnavailable);
    expect(await callerOf(verifier, 'x.y.z'), 'not a token').to.equal(undefined);
    status = 200;
    passMinutes(1);
    expect(await callerOf(verifier, token)).not.to.equal(undefined);
  });

  it('trigger fetches with backoff (1, 2, 4 … 30 seconds) until keys are known', async () => {
    const token = await sign(good());
    const verifier = tokens();
    const asked = fetches;
    status = 503;
    const ask = (times: number) =>
      Promise.all(Array.from({ length: times }, () => callerOf(verifier, token).catch(() => {})));
    await ask(50);
    for (const [n, seconds] of [1, 2, 4, 8, 16, 30, 30].entries()) {
      passMinutes((seconds - 0.3) / 60);
      await ask(2);
      expect(fetches, `too soon for fetch ${n}`).to.equal(asked + n + 1);
      passMinutes(0.3 / 60);
      await ask(50);
      expect(fetches, `fetch ${n}`).to.equal(asked + n + 2);
    }
  });

  it('are not verified with a key set larger than 1 MiB', async () => {
    published = [jwk, { kty: 'oct', kid: 'x'.repeat(2 ** 20) }];
    const error = await callerOf(tokens(), await sign(good())).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(CredentialsUnavailable);
  });

  it('without a kid are verified with each matching key', async () => {
    const { first, second, old, fresh } = await rotation(undefined);
    published = [first, { ...second }];
    const verifier = tokens();
    for (const token of [await old(), await fresh()]) {
      expect(await callerOf(verifier, token)).not.to.equal(undefined);
    }
    const other = await generateKeyPair('ES256');
    const unknown = await sign(good(), { kid: undefined }, other.privateKey);
    expect(await verifier.authenticate(unknown)).to.deep.equal({ refused: 'signature' });
  });

  it('fail in time if the provider does not respond', async function silentProvider() {
    this.timeout(8000);
    const silent = createServer(() => {});
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    try {
      const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
      const verifier = tokens({ jwksUrl: url });
      const error = await callerOf(verifier, await sign(good())).catch((e: unknown) => e);
      expect(error).to.be.instanceOf(CredentialsUnavailable);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });
});
