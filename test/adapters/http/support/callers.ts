import { bearerAuthentication } from '../../../../src/adapters/http/index.ts';
import type { Scope } from '../../../../src/index.ts';

/** A caller, which tests encode in its token. */
export interface TestCaller {
  readonly name: string;
  readonly subject: string | null;
  readonly scopes: readonly Scope[];
}

/** Returns the Authorization header of a caller. */
export function as(caller: Partial<TestCaller>): { readonly Authorization: string } {
  const token = Buffer.from(JSON.stringify(caller)).toString('base64url');
  return { Authorization: `Bearer ${token}` };
}

/** Accepts the tokens that {@link as} creates, without a signature. */
export const authenticate = bearerAuthentication([
  {
    async authenticate(token) {
      if (!token.startsWith('ey')) return undefined;
      const {
        name = 'somebody',
        subject = null,
        scopes = [],
      }: Partial<TestCaller> = JSON.parse(Buffer.from(token, 'base64url').toString());
      return { name, subject, scopes: new Set(scopes) };
    },
  },
]);
