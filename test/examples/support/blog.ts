// Starts examples/accounts, the blog, and acts like a browser of its members.

import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, createClient } from '../../../packages/rostrum-client/src/index.ts';
import { freePort } from '../../support/free-port.ts';
import { type Child, node, type Outcome, outcomeOf, start } from '../../support/process.ts';
import { repository, temporaryDirectory } from '../../support/repository-copy.ts';

export const folder = join(repository, 'examples', 'accounts');

export const password = 'correct horse';
export const emailOf = (name: string) => `${name.toLowerCase()}@example.com`;

export interface Browser {
  readonly client: Client;
  /** Sends a request to better-auth, with the cookie of this browser. A body makes it a POST. */
  readonly ask: (path: string, body?: object, headers?: object) => Promise<Response>;
  /** Returns a token for the API. */
  readonly token: () => Promise<string>;
}

export interface Member extends Browser {
  readonly id: string;
}

/** The blog, on a free port and in a folder of its own. */
export class Blog implements AsyncDisposable {
  readonly data: string;
  readonly url: string;
  readonly #process: Child;
  readonly #ended: Promise<Outcome>;
  readonly #directory: AsyncDisposable;

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<Blog> {
    const installed = await node(['../install.mjs'], { cwd: folder });
    if (installed.code !== 0) throw new Error(installed.output);
    const directory = await temporaryDirectory();
    const data = join(directory.path, 'data');
    const port = await freePort();
    const env = { PORT: String(port), DATA: data, ...settings };
    const args = ['--import', '../sources.mjs', 'server.ts'];
    const process_ = start(process.execPath, args, { cwd: folder, env });
    const ended = outcomeOf(process_);
    const ready = await Promise.race([
      once(createInterface({ input: process_.stdout }), 'line').then(() => undefined),
      ended.then(({ output }) => new Error(`The blog did not start: ${output}`)),
    ]);
    if (ready !== undefined) throw ready;
    return new Blog(directory, data, `http://localhost:${port}`, process_, ended);
  }

  private constructor(
    directory: AsyncDisposable,
    data: string,
    url: string,
    running: Child,
    ended: Promise<Outcome>,
  ) {
    this.data = data;
    this.url = url;
    this.#directory = directory;
    this.#process = running;
    this.#ended = ended;
  }

  /** Runs a command of the blog, such as `role.ts`. */
  run(script: string, ...args: readonly string[]): Promise<Outcome> {
    const command = ['--import', '../sources.mjs', script, ...args];
    return node(command, { cwd: folder, env: { DATA: this.data } });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const init = { headers: { Accept: 'text/html', ...headers }, redirect: 'manual' } as const;
    return fetch(this.url + path, init);
  }

  /** Returns the text of a page, which must be a 200. */
  async text(path: string): Promise<string> {
    const response = await this.get(path);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  }

  /** A browser without cookies. */
  browser(): Browser {
    let cookie = '';
    const ask = async (path: string, body?: object, headers?: object) => {
      const response = await fetch(`${this.url}/api/auth${path}`, {
        method: body ? 'POST' : 'GET',
        headers: {
          'Content-Type': 'application/json',
          Origin: this.url,
          Cookie: cookie,
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const [set] = response.headers.getSetCookie();
      if (set !== undefined) cookie = set.split(';')[0] ?? '';
      return response;
    };
    const token = async () => {
      const response = await ask('/token');
      return ((await response.json()) as { token: string }).token;
    };
    return { ask, token, client: createClient({ url: `${this.url}/api/v1`, token }) };
  }

  /** A browser in which someone has just signed up, without a user yet. */
  async signUp(name: string): Promise<Member> {
    const browser = this.browser();
    const response = await browser.ask('/sign-up/email', { name, email: emailOf(name), password });
    const { user } = (await response.json()) as { user: { id: string } };
    return { ...browser, id: user.id };
  }

  /** Signs up, and creates the user. */
  async member(name: string): Promise<Member> {
    const member = await this.signUp(name);
    await member.client.me.save({ name });
    return member;
  }

  /** A client without credentials. */
  anybody(): Client {
    return createClient({ url: `${this.url}/api/v1` });
  }

  /** Stops the blog, and returns what it printed. */
  async stop(): Promise<Outcome> {
    this.#process.kill();
    const outcome = await this.#ended;
    if (outcome.code !== 0)
      throw new Error(`The blog ended with ${outcome.code}: ${outcome.output}`);
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#directory[Symbol.asyncDispose]();
  }
}
