import { expect } from 'chai';
import { readUrl } from '../../../src/adapters/mongodb/connection/connection-string.ts';
import { MongodbUrlError, openMongodbStore } from '../../../src/adapters/mongodb/index.ts';

const host = 'mongodb://127.0.0.1:1';

function refusalOf(url: string): MongodbUrlError {
  try {
    void openMongodbStore({ url }).close();
  } catch (error) {
    if (error instanceof MongodbUrlError) return error;
    throw error;
  }
  throw new Error(`${url} was accepted`);
}

describe('the URL of a MongoDB store', () => {
  const weaker = [
    ...['w=1', 'w=0', 'W=1', 'journal=false', 'j=false', 'wtimeout=1'],
    ...['readConcernLevel=local', 'readPreference=secondary', 'retryWrites=false'],
    ...['retryReads=false', 'socketTimeoutMS=0', 'serverSelectionTimeoutMS=100000'],
    ...['wtimeoutMS=1', 'maxPoolSize=0'],
  ];
  for (const query of weaker) {
    it(`cannot weaken the guarantees with ${query}`, () => {
      const settings = (url: string) => {
        const { client, writeConcern } = readUrl(url);
        const { readConcern, readPreference, retryWrites, retryReads } = client.options;
        const { socketTimeoutMS, serverSelectionTimeoutMS, maxPoolSize } = client.options;
        return {
          ...{ writeConcern, readConcern, readPreference, retryWrites, retryReads },
          ...{ socketTimeoutMS, serverSelectionTimeoutMS, maxPoolSize },
        };
      };
      expect(settings(`${host}/x?${query}`)).to.deep.equal(settings(host));
    });
  }

  it('names the database', () => {
    for (const [url, name] of Object.entries({
      [host]: 'rostrum',
      [`${host}/`]: 'rostrum',
      [`${host}/?tls=true`]: 'rostrum',
      [`${host}/test`]: 'test',
      'mongodb://u:p%40ss@127.0.0.1:1,127.0.0.1:2/a%20b?tls=true': 'a b',
    })) {
      expect(readUrl(url).databaseName, url).to.equal(name);
    }
  });

  const wrong = [
    '',
    'mongodb://user:secret@',
    'http://user:secret@host/',
    'mongodb://user:sec/ret@host/x',
    'mongodb://user:sec?ret@host/x',
    'mongodb://user:sec/ret?x@host',
    'mongodb://user:secret?x@host/x',
    'mongodb://user:secret@host:99999999/x',
    'mongodb://user:secret@host/x?noSuchOption=secret',
    'mongodb://user:secret',
    'mongodb://user:secret/x',
    'mongodb://us@er:secret@host/x',
    'mongodb://user:secret@host/x?tls=true&tlsCertificateKeyFilePassword=secret&replicaSet=',
    'mongodb://user:%zz-secret@host/x',
    'mongodb://user:secret@host/a.b',
    'mongodb://user:secret@host/%zz',
    'mongodb+srv://user:secret@a.example.org:27017/',
  ];
  for (const url of wrong) {
    it(`is rejected without revealing the password: ${url}`, () => {
      const { code, message, cause, stack } = refusalOf(url);
      expect(code).to.equal('store-bad-url');
      expect(message).to.match(/^Invalid MongoDB URL: [^\n]+\.$/);
      expect(`${message} ${cause} ${stack}`).not.to.match(/sec[/?]?ret|user:sec/);
    });
  }

  const right = [
    host,
    `${host}/`,
    `${host}/?w=majority&journal=true&retryWrites=true`,
    'mongodb://127.0.0.1:1,127.0.0.1:2/x?replicaSet=rs0&readConcernLevel=majority',
    'mongodb://user:p%40ss@127.0.0.1:1/x?authSource=admin&tls=true&maxPoolSize=5&appName=mine',
    'mongodb+srv://user:secret@a.example.org/x?retryWrites=true&w=majority&appName=Cluster0',
  ];
  for (const url of right) {
    it(`is accepted: ${url}`, async () => {
      await openMongodbStore({ url }).close();
    });
  }
});

describe('the declared fields of a MongoDB store', () => {
  it('are checked before it connects', () => {
    const declaredFields = { posts: { 'a.b': 'text' } } as const;
    expect(() => openMongodbStore({ url: host, declaredFields })).to.throw(
      TypeError,
      '"a.b" cannot be declared as a field of posts',
    );
  });
});
