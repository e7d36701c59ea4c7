import { expect } from 'chai';
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
  const less: Record<string, string> = {
    'w=1': 'w',
    'w=0': 'w',
    'w=majority&w=1': 'w',
    'W=1': 'w',
    'journal=false': 'journal',
    'j=false': 'journal',
    'readConcernLevel=local': 'readConcernLevel',
    'readPreference=secondary': 'readPreference',
    'retryWrites=false': 'retryWrites',
    'retryReads=false': 'retryReads',
    'socketTimeoutMS=0': 'socketTimeoutMS',
    'serverSelectionTimeoutMS=100000': 'serverSelectionTimeoutMS',
    'wtimeout=1': 'wtimeout',
    'timeoutMS=1000': 'timeoutMS',
    'maxPoolSize=0': 'maxPoolSize',
  };
  for (const [query, setting] of Object.entries(less)) {
    it(`is rejected with ${query}, naming ${setting}`, () => {
      const refusal = refusalOf(`${host}/rostrum?${query}`);
      expect(refusal).to.include({ code: 'store-bad-url', setting });
      expect(refusal.message).to.match(/^Invalid MongoDB URL: [^\n]+\.$/);
      expect(refusal.message).to.contain(`"${setting}"`);
    });
  }

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
    'mongodb://user:secret@host/x?authMechanism=secret',
    'mongodb://user:secret@host/x?tls=true&tlsCertificateKeyFilePassword=secret&replicaSet=',
    'mongodb://user:%zz-secret@host/x',
    'mongodb://user:secret@host/a.b',
    'mongodb://user:secret@host/%zz',
    'mongodb+srv://user:secret@a.example.org:27017/',
  ];
  for (const url of wrong) {
    it(`is rejected without revealing the password: ${url}`, () => {
      const { message, cause, stack } = refusalOf(url);
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
