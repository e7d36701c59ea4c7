import { expect } from 'chai';
import { BSON } from 'mongodb';
import { fromBson } from '../../../src/adapters/mongodb/schema/documents.ts';

/** A document in which the last byte of a text is replaced. */
function withByte(byte: number, text = 'titl?'): Uint8Array {
  const record = { id: 'a', title: 'titl?' };
  const bson = BSON.serialize({ _id: '_id?', version: 1, record, emailKey: 'emai?' });
  bson[Buffer.from(bson).indexOf(text) + text.length - 1] = byte;
  return bson;
}

describe('a document in BSON', () => {
  it('is refused where a text is not UTF-8, as another tool may have left it', () => {
    expect(fromBson(withByte(0x65)).json).to.equal('{"id":"a","title":"title"}');
    for (const byte of [0x80, 0xc3, 0xff]) {
      for (const text of ['titl?', '_id?', 'emai?']) {
        expect(() => fromBson(withByte(byte, text))).to.throw(BSON.BSONError, /UTF-8/i);
      }
    }
  });

  it('may have the character that stands for what is none', () => {
    const record = { id: 'a', title: '\ufffd', '\ufffd': ['\ufffd'] };
    expect(fromBson(BSON.serialize({ version: 1, record })).json).to.equal(JSON.stringify(record));
  });

  it('has its keys as they were sent', () => {
    const own = { '~toString': [{ '~$ref': '~', $id: 1 }], '~': '"~', 'a"~': 2 };
    const record = { id: 'a', title: '~', ...own };
    expect(JSON.parse(fromBson(BSON.serialize({ version: 1, record })).json)).to.deep.equal({
      ...{ id: 'a', title: '~', toString: [{ $ref: '~', $id: 1 }] },
      ...{ '~': '"~', 'a"~': 2 },
    });
  });
});
