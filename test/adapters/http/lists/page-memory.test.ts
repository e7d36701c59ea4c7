import { expect } from 'chai';
import type { Exchange } from '../../../../src/adapters/http/exchange.ts';
import { PageMemory } from '../../../../src/adapters/http/lists/page-memory.ts';

const exchange = { checkClient() {} } as unknown as Exchange;

describe('the memory of pages', () => {
  it('lets no list of a usual limit wait for the large ones of others', async () => {
    const left: number[] = [];
    const pages = new PageMemory(8 * 1024 * 1024, () => left.push(left.length));
    const gate = Promise.withResolvers<string>();
    let made = 0;
    const large = Array.from({ length: 5 }, () =>
      pages.make(exchange, 1000, () => {
        made += 1;
        return gate.promise;
      }),
    );
    for (const limit of [1, 20, 100]) {
      expect(await pages.make(exchange, limit, async () => 'page')).to.equal('page');
    }
    expect(made, 'large pages at a time').to.be.within(1, 3);
    gate.resolve('large');
    expect(await Promise.all(large)).to.deep.equal(Array(5).fill('large'));
    expect(left, 'lists that are no longer in progress').to.have.length(6);
  });
});
