// A blog with accounts, in one process: better-auth signs people in, Rostrum keeps users and posts.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { createRostrum } from 'rostrum';
import { bearerAuthentication, rostrumListener } from 'rostrum/http';
import { createMemoryStore } from 'rostrum/memory';

const port = Number(process.env.PORT ?? 3000);
const url = `http://localhost:${port}`;

const accounts = {
  baseURL: url,
  trustedOrigins: [`http://127.0.0.1:${port}`],
  secret: process.env.BETTER_AUTH_SECRET ?? randomBytes(32).toString('hex'),
  database: new DatabaseSync(':memory:'),
  emailAndPassword: { enabled: true },
  plugins: [
    jwt({
      jwt: {
        issuer: url,
        audience: `${url}/api/v1`,
        // How long a token stays valid after a sign-out.
        expirationTime: '5m',
        // Rostrum needs only `sub`, the account's id. So no address is in the token.
        definePayload: () => ({}),
      },
    }),
  ],
};
await (await getMigrations(accounts)).runMigrations();
const auth = betterAuth(accounts);

/** What somebody may do who has signed in, and what anybody may do. */
const member = ['users:read:public', 'users:write:own', 'posts:read', 'posts:write:own'];
const anonymous = ['users:read:public', 'posts:read'];

/** Tells whose a token is. */
const verifier = {
  async authenticate(token) {
    const { payload } = await auth.api.verifyJWT({ body: { token } });
    if (!payload) return { refused: 'token' };
    return { name: payload.sub, subject: payload.sub, scopes: member };
  },
};

const rostrum = createRostrum(createMemoryStore(), { publicUserFields: ['about'] });
const api = rostrumListener(rostrum, {
  authenticate: bearerAuthentication([verifier]),
  anonymous,
});

const files = {
  '/': ['index.html', 'text/html'],
  '/main.js': ['dist/main.js', 'text/javascript'],
};

function page({ url }, response) {
  const [name, type] = files[url] ?? [];
  if (name === undefined) return response.writeHead(404).end('There is no such page.\n');
  response.setHeader('Content-Type', `${type}; charset=utf-8`);
  response.end(readFileSync(new URL(name, import.meta.url)));
}

const signing = toNodeHandler(auth);
const server = createServer((request, response) => {
  if (request.url.startsWith('/api/auth/')) signing(request, response);
  else api(request, response, () => page(request, response));
});
server.on('error', ({ message }) => {
  console.error(`${message}. PORT=4000 npm start takes another port.`);
  process.exitCode = 1;
});
server.listen(port, 'localhost', () => console.log(`The blog is at ${url}`));
