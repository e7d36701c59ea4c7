import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseStoreUrl, redactStoreUrl, StoreUrlError } from '../../src/settings/index.ts';

describe('store URLs', () => {
  it('select a store', () => {
    expect(parseStoreUrl('memory:')).to.deep.equal({ kind: 'memory' });
    expect(parseStoreUrl('sqlite:./a b.db')).to.deep.equal({ kind: 'sqlite', path: './a b.db' });
    expect(parseStoreUrl('sqlite:/var/r.db')).to.deep.equal({ kind: 'sqlite', path: '/var/r.db' });
    for (const url of ['mongodb://a,b/db?replicaSet=r', 'mongodb+srv://a/db']) {
      expect(parseStoreUrl(url)).to.deep.equal({ kind: 'mongodb', url });
    }
  });

  it('can have white space around them, as in secret files', () => {
    expect(parseStoreUrl('sqlite:/data/x.db\n')).to.deep.equal({
      kind: 'sqlite',
      path: '/data/x.db',
    });
    expect(parseStoreUrl(' mongodb://a/db\r\n')).to.deep.equal({
      kind: 'mongodb',
      url: 'mongodb://a/db',
    });
    expect(redactStoreUrl('sqlite:/data/x.db\n')).to.equal('sqlite:/data/x.db');
  });

  it('expand ~ to the home directory', () => {
    const path = join(homedir(), 'data/x.db');
    expect(parseStoreUrl('sqlite:~/data/x.db')).to.deep.equal({ kind: 'sqlite', path });
    expect(parseStoreUrl('sqlite:./~/x.db')).to.deep.equal({ kind: 'sqlite', path: './~/x.db' });
  });

  it('are rejected with control characters or quotation marks in the path', () => {
    for (const url of [
      'sqlite:x\u001b[2J.db',
      'sqlite:x\ny.db',
      'sqlite:"./x.db"',
      "sqlite:'x.db'",
    ]) {
      expect(() => parseStoreUrl(url), url).to.throw(
        StoreUrlError,
        /control character or quotation/,
      );
    }
    expect(parseStoreUrl("sqlite:bob's.db")).to.deep.equal({ kind: 'sqlite', path: "bob's.db" });
  });

  it('are rejected if they select no store', () => {
    for (const url of ['', 'memory', 'sqlite:', 'sqlite://x.db', 'postgres://x', 'data/x.db']) {
      expect(() => parseStoreUrl(url), url).to.throw(StoreUrlError);
    }
  });

  it('are rejected with a hint if a sqlite URL has //', () => {
    for (const url of ['sqlite://x.db', 'sqlite:///tmp/x.db']) {
      expect(() => parseStoreUrl(url), url).to.throw(
        /a path without \/\/, .* sqlite:\/tmp\/x\.db$/,
      );
    }
  });

  it('are displayed without the password', () => {
    expect(redactStoreUrl('mongodb://ada:s3cr:t@h/db')).to.equal('mongodb://ada:***@h/db');
    expect(redactStoreUrl('mongodb+srv://ada:x@h')).to.equal('mongodb+srv://ada:***@h');
    expect(redactStoreUrl('mongodb://h/db')).to.equal('mongodb://h/db');
    expect(redactStoreUrl('MongoDB://ada:a/b@c@h/db')).to.equal('MongoDB://ada:***@h/db');
    expect(redactStoreUrl('mongodb://h/db?tlsCertificateKeyFilePassword=x')).to.equal(
      'mongodb://h/db?…',
    );
    expect(redactStoreUrl('mongodb://ada:x@h/?password=a@b')).to.not.match(/x|a@b/);
    expect(redactStoreUrl('mongodb:/ada:x@h/db')).to.equal('mongodb:/ada:***@h/db');
    expect(redactStoreUrl('mongodb:ada:x@h/db')).to.equal('mongodb:ada:***@h/db');
    for (const odd of ['u:s3cret@h/db', 'mongodb//u:s3cret@h/db', 'x mongodb://u:s3cret@h/db']) {
      expect(redactStoreUrl(odd)).to.equal('***@h/db');
    }
    expect(redactStoreUrl('sqlite:./a@b:c@d.db')).to.equal('sqlite:./a@b:c@d.db');
  });
});
