import { bearerAuthentication } from '../../../../src/adapters/http/index.ts';
import type { Scope } from '../../../../src/index.ts';

/** A caller as a test writes it down; its token is made of it. */
export interface TestCaller {
  readonly name: string;
  readonly subject: string | null;
  readonly scopes: readonly Scope[];
}

/** The header by which somebody asks. */
export function as(caller: Partial<TestCaller>): { readonly Authorization: string } {
  const token = Buffer.from(JSON.stringify(caller)).toString('base64url');
  return { Authorization: `Bearer ${token}` };
}

/** Takes the tokens of {@link as} at their word. */
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
