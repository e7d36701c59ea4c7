import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { createClient, isApiProblem } from '../../packages/rostrum-client/src/index.ts';
import { Blog, type Browser, emailOf, password } from './support/blog.ts';

describe('the people of the accounts example', function () {
  this.timeout(60_000);
  let blog: Blog;

  before(async () => {
    blog = await Blog.start();
  });
  after(() => blog?.[Symbol.asyncDispose]());

  const status = async (response: Promise<Response>) => (await response).status;
  const verify = ({ ask }: Browser, token: string) =>
    ask(`/verify-email?${new URLSearchParams({ token })}`);
  const codeOf = async (call: Promise<unknown>) => {
    const error = await call.catch((reason: unknown) => reason);
    return isApiProblem(error) ? error.code : error;
  };

  /** What a response tells: its status, and its body without values that differ each time. */
  async function told(response: Response): Promise<string> {
    const text = (await response.text()).replace(/"(id|createdAt|updatedAt)":"[^"]*"/g, '"$1"');
    return `${response.status} ${text.replace(/[\w.]+@example\.com/g, 'EMAIL')}`;
  }

  it('cannot sign in before they have confirmed their address', async () => {
    const browser = blog.browser();
    const email = emailOf('Ada');
    const credentials = { email, password };
    await browser.ask('/sign-up/email', { name: 'Ada', ...credentials });
    expect(await status(browser.ask('/sign-in/email', credentials))).to.equal(403);
    expect(await status(browser.ask('/token'))).to.equal(401);
    const mail = await blog.mailbox.take(email);
    expect(mail.text).to.contain(`${blog.url}/dashboard#/verify/`);
    expect(await status(verify(browser, `${mail.token}x`))).to.equal(401);
    await verify(browser, mail.token);
    // The link alone signs nobody in.
    expect(await status(browser.ask('/token'))).to.equal(401);
    expect(await status(browser.ask('/sign-in/email', credentials))).to.equal(200);
    expect(await status(browser.ask('/token'))).to.equal(200);
  });

  it('get the same answers for known and unknown addresses', async () => {
    await blog.signUp('Known');
    const { ask } = blog.browser();
    const fields = (name: string) => ({ name: 'X', email: emailOf(name), password });
    for (const path of ['/sign-up/email', '/request-password-reset', '/send-verification-email']) {
      const [unknown, known] = [
        await ask(path, fields('Unknown')),
        await ask(path, fields('Known')),
      ];
      expect(await told(known), path).to.equal(await told(unknown));
      // Each sign-up sends a mail.
      if (path !== '/sign-up/email') continue;
      expect((await blog.mailbox.take(emailOf('Unknown'))).subject).to.contain('Confirm');
      expect((await blog.mailbox.take(emailOf('Known'))).text).to.contain('has an account already');
    }
    const wrong = { password: 'wrong horse' };
    expect(await told(await ask('/sign-in/email', { ...fields('Known'), ...wrong }))).to.equal(
      await told(await ask('/sign-in/email', { ...fields('Nobody'), ...wrong })),
    );
  });

  it('reset a forgotten password by mail, once, which ends all sessions', async () => {
    const old = await blog.member('Grace');
    const { ask } = blog.browser();
    const email = emailOf('Grace');
    await ask('/request-password-reset', { email });
    const { token, text } = await blog.mailbox.take(email);
    expect(text).to.contain(`${blog.url}/dashboard#/reset/`);
    const bearer = await old.token();
    const reset = { newPassword: 'battery staple', token };
    expect(await status(ask('/reset-password', reset))).to.equal(200);
    expect(await status(ask('/reset-password', { ...reset, newPassword: 'again again' }))).to.equal(
      400,
    );
    expect(await status(old.ask('/token'))).to.equal(401);
    const client = createClient({ url: `${blog.url}/api/v1`, token: bearer });
    expect(await codeOf(client.me.get())).to.equal('unauthenticated');
    expect(await status(ask('/sign-in/email', { email, password }))).to.equal(401);
    expect((await blog.signIn(email, 'battery staple')).id).to.equal(old.id);
  });

  it('are signed out at once, also where a token has not expired', async () => {
    const member = await blog.member('Barbara');
    const token = await member.token();
    const other = createClient({ url: `${blog.url}/api/v1`, token });
    expect(await codeOf(other.me.get())).to.have.property('record');
    await member.ask('/sign-out', {});
    expect(await codeOf(other.me.get())).to.equal('unauthenticated');
  });

  for (const posts of ['keep', 'delete']) {
    it(`delete their account: ${posts} posts`, async () => {
      const name = `Leaving-${posts}`;
      const { ask, client, id, token } = await blog.member(name);
      await client.posts.create({ title: name, slug: name.toLowerCase() });
      const path = `/delete-user?posts=${posts}`;
      expect(await status(ask(path, { password: 'wrong horse' }))).to.equal(400);
      expect((await client.me.get()).record.id).to.equal(id);
      const bearer = await token();
      expect(await status(ask(path, { password }))).to.equal(200);
      const late = createClient({ url: `${blog.url}/api/v1`, token: bearer });
      expect(await codeOf(late.me.save({ name }))).to.equal('unauthenticated');
      expect((await blog.get(`/authors/${id}`)).status).to.equal(404);
      const post = await blog.get(`/posts/${name.toLowerCase()}`);
      expect(post.status).to.equal(posts === 'keep' ? 200 : 404);
      if (posts === 'keep') expect(await post.text()).to.contain('Without an author');
      expect(await status(ask('/sign-in/email', { email: emailOf(name), password }))).to.equal(401);
    });
  }

  it('are banned by a command of the operator, at once', async () => {
    const { client, ask } = await blog.member('Troll');
    const role = (name: string) => blog.run('role.ts', emailOf('Troll'), name);
    expect((await role('banned')).code).to.equal(0);
    expect(await codeOf(client.me.get())).to.equal('unauthenticated');
    expect(await status(ask('/sign-in/email', { email: emailOf('Troll'), password }))).to.equal(
      403,
    );
    await role('user');
    expect(await status(ask('/sign-in/email', { email: emailOf('Troll'), password }))).to.equal(
      200,
    );
  });

  it('are not signed in, changed or deleted by a form on another site', async () => {
    const victim = await blog.member('Victim');
    await blog.run('role.ts', emailOf('Victim'), 'admin');
    const email = emailOf('Victim');
    const evil = {
      Origin: 'https://evil.example',
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
    };
    for (const [path, body] of [
      ['/sign-in/email', { email, password }],
      ['/sign-up/email', { email: emailOf('Csrf'), name: 'x', password }],
      ['/request-password-reset', { email }],
      ['/send-verification-email', { email }],
      ['/sign-out', {}],
      ['/delete-user?posts=delete', { password }],
      ['/update-user', { name: 'x' }],
      ['/change-password', { currentPassword: password, newPassword: 'evil evil' }],
      ['/admin/set-role', { userId: victim.id, role: 'user' }],
      ['/admin/ban-user', { userId: victim.id }],
    ] as const) {
      expect(await status(victim.ask(path, body, evil)), path).to.equal(403);
    }
    // The API and the images take tokens only, which no other site has.
    const Cookie = `better-auth.session_token=${encodeURIComponent(await victim.token())}`;
    const init = { method: 'DELETE', headers: { Cookie, Origin: blog.url } };
    expect((await fetch(`${blog.url}/api/v1/users/me`, init)).status).to.equal(401);
    expect((await victim.client.me.get()).record.name).to.equal('Victim');
  });
});

describe('the mail of the accounts example', function () {
  this.timeout(60_000);

  it('is printed by default', async () => {
    await using blog = await Blog.start({ SMTP_URL: '' });
    const email = emailOf('Ada');
    await blog.browser().ask('/sign-up/email', { name: 'Ada', email, password });
    const { output } = await blog.stop();
    expect(output).to.contain(`Mail to ${email}`).and.to.contain('#/verify/');
  });

  it('shows by neither a failure nor a delay which addresses exist', async () => {
    // Accepts connections, and says nothing.
    const connections: Socket[] = [];
    let isOver = false;
    const silent = createServer((socket) => {
      if (isOver) socket.destroy();
      else connections.push(socket);
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    for (const smtp of ['127.0.0.1:1', `127.0.0.1:${port}`]) {
      await using blog = await Blog.start({ SMTP_URL: `smtp://${smtp}` });
      const fields = { name: 'Ada', email: emailOf('Ada'), password };
      const { ask } = blog.browser();
      for (const path of ['/sign-up/email', '/sign-up/email', '/request-password-reset']) {
        expect((await ask(path, fields)).status, path).to.equal(200);
      }
      // Otherwise the blog would wait for them before it ends.
      isOver = smtp.endsWith(`:${port}`);
      for (const connection of connections) connection.destroy();
    }
    silent.close();
  });
});
