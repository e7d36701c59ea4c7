// Starts examples/accounts, the blog, and acts like a browser of its members.

import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
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
  /** The id of the user. */
  readonly id: string;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly link: string;
  /** The end of the link. */
  readonly token: string;
}

/** An SMTP server that keeps what it receives. */
export class Mailbox implements AsyncDisposable {
  readonly mails: Mail[] = [];
  readonly url: string;
  readonly #server: { close(done: () => void): void };
  readonly #arrivals = new EventEmitter();

  static async start(): Promise<Mailbox> {
    await install();
    // The packages of the example, which the repository does not have.
    const require = createRequire(join(folder, 'package.json'));
    const { SMTPServer } = require('smtp-server');
    let receive = (_mail: Mail) => {};
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(
        stream: AsyncIterable<Buffer>,
        session: { envelope: { rcptTo: readonly { address: string }[] } },
        done: () => void,
      ) {
        buffer(stream).then((bytes) => {
          receive(parse(session.envelope.rcptTo.map(({ address }) => address).join(), `${bytes}`));
          done();
        });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const mailbox = new Mailbox(server, server.server.address().port);
    receive = (mail) => {
      mailbox.mails.push(mail);
      mailbox.#arrivals.emit('mail');
    };
    return mailbox;
  }

  private constructor(server: { close(done: () => void): void }, port: number) {
    this.#server = server;
    this.url = `smtp://127.0.0.1:${port}`;
  }

  /** Waits for a mail to an address, and takes it out of the mailbox. */
  async take(to: string): Promise<Mail> {
    for (;;) {
      const index = this.mails.findIndex((mail) => mail.to === to);
      const [mail] = index < 0 ? [] : this.mails.splice(index, 1);
      if (mail !== undefined) return mail;
      await once(this.#arrivals, 'mail');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }
}

/** Reads a mail of plain text, whose lines can be quoted-printable. */
function parse(to: string, source: string): Mail {
  const [head = '', ...rest] = source.split('\r\n\r\n');
  const body = rest.join('\n\n').replace(/=\r\n/g, '');
  const text = head.includes('quoted-printable')
    ? body.replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    : body;
  const subject = /^Subject: (.*)$/m.exec(head)?.[1] ?? '';
  const [link = '', token = ''] = /\S+#\/\w+\/(\S+)/.exec(text) ?? [];
  return { to, subject, text, link, token };
}

async function install(): Promise<void> {
  const installed = await node(['../install.mjs'], { cwd: folder });
  if (installed.code !== 0) throw new Error(installed.output);
}

/** The blog, on a free port and in a folder of its own. */
export class Blog implements AsyncDisposable {
  readonly data: string;
  readonly url: string;
  readonly mailbox: Mailbox;
  readonly #process: Child;
  readonly #ended: Promise<Outcome>;
  readonly #directory: AsyncDisposable;

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<Blog> {
    const mailbox = await Mailbox.start();
    const directory = await temporaryDirectory();
    const data = join(directory.path, 'data');
    const port = await freePort();
    const own = { PORT: String(port), DATA: data, SMTP_URL: mailbox.url, PUBLISH: 'members' };
    const env = { ...own, ...settings };
    const args = ['--import', '../sources.mjs', 'server.ts'];
    const process_ = start(process.execPath, args, { cwd: folder, env });
    const ended = outcomeOf(process_);
    const ready = await Promise.race([
      once(createInterface({ input: process_.stdout }), 'line').then(() => undefined),
      ended.then(({ output }) => new Error(`The blog did not start: ${output}`)),
    ]);
    if (ready !== undefined) {
      await mailbox[Symbol.asyncDispose]();
      throw ready;
    }
    return new Blog(directory, data, `http://localhost:${port}`, process_, ended, mailbox);
  }

  private constructor(
    directory: AsyncDisposable,
    data: string,
    url: string,
    running: Child,
    ended: Promise<Outcome>,
    mailbox: Mailbox,
  ) {
    this.data = data;
    this.mailbox = mailbox;
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

  /** Signs up and confirms the address. Returns the browser of someone who is signed in, without a user yet. */
  async signUp(name: string, email = emailOf(name)): Promise<Member> {
    const browser = this.browser();
    await browser.ask('/sign-up/email', { name, email, password });
    const { token } = await this.mailbox.take(email);
    await browser.ask(`/verify-email?${new URLSearchParams({ token })}`);
    return this.signIn(email, password, browser);
  }

  /** Signs in, and returns the browser. */
  async signIn(email: string, secret = password, browser = this.browser()): Promise<Member> {
    const { status } = await browser.ask('/sign-in/email', { email, password: secret });
    if (status !== 200) throw new Error(`${email} could not sign in: ${status}`);
    const [, payload = ''] = (await browser.token()).split('.');
    return { ...browser, id: JSON.parse(`${Buffer.from(payload, 'base64url')}`).sub };
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
    await this.mailbox[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}
