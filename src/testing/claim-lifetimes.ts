import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { raises } from './assertions.ts';
import { at, claim } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

/** How long a claim is kept: judged by the claims themselves. */
export function describeClaimLifetimes(suite: Suite): void {
  lifetimesOf(users, suite);
  lifetimesOf(posts, suite);
}

function lifetimesOf<R extends Entity>({ name, of, make }: Kind<R>, { test }: Suite): void {
  test(`${name}: a claim holds up to the last millisecond before its end`, async (store) => {
    const [first, record] = [claim({ from: at(0), until: at(1000) }), make()];
    await of(store).create(record, first);
    const late = { ...first, from: at(999), until: at(1999) };
    assert.deepEqual(await of(store).replay(late), { record, version: 1 });
    assert.equal((await of(store).create(make(), late)).replayed, true);
    const other = claim({ ...late, fingerprint: 'another' });
    await raises(of(store).create(make(), other), 'idempotency-key-reused');
    await raises(of(store).replay(other), 'idempotency-key-reused');
  });

  test(`${name}: a claim is forgotten from its end on, and its key is free`, async (store) => {
    const [first, record, second] = [claim({ from: at(0), until: at(1000) }), make(), make()];
    await of(store).create(record, first);
    const late = { key: first.key, fingerprint: 'another', from: at(1000), until: at(2000) };
    assert.equal(await of(store).replay({ ...first, from: at(1000) }), undefined);
    assert.equal(await of(store).replay(late), undefined);
    const stored = { record: second, version: 1 };
    assert.deepEqual(await of(store).create(second, late), { stored, replayed: false });
    assert.deepEqual(await of(store).get(record.id), { record, version: 1 });
  });

  test(`${name}: a key that was free again is claimed anew, for its own time`, async (store) => {
    const first = claim({ from: at(0), until: at(1000) });
    await of(store).create(make(), first);
    const [second, record] = [{ ...first, from: at(1000), until: at(2000) }, make()];
    await of(store).create(record, second);
    assert.deepEqual(await of(store).replay(second), { record, version: 1 });
    assert.deepEqual(
      await of(store)
        .replay({ ...second, from: at(1999) })
        ?.then((r) => r?.record),
      record,
    );
    assert.equal(await of(store).replay({ ...second, from: at(2000) }), undefined);
  });

  test(`${name}: a repeat does not make a claim last longer`, async (store) => {
    const first = claim({ from: at(0), until: at(1000) });
    await of(store).create(make(), first);
    await of(store).create(make(), { ...first, from: at(900), until: at(1900) });
    assert.equal(await of(store).replay({ ...first, from: at(1000) }), undefined);
    const again = { ...first, from: at(1000), until: at(2000) };
    assert.equal((await of(store).create(make(), again)).replayed, false);
  });

  test(`${name}: the end of one claim frees no other`, async (store) => {
    const [short, long] = [claim({ until: at(1000) }), claim({ until: at(60_000) })];
    const [one, two] = [make(), make()];
    await of(store).create(one, short);
    await of(store).create(two, long);
    const late = { from: at(1000), until: at(70_000) };
    await of(store).create(make(), claim(late));
    assert.equal(await of(store).replay({ ...short, ...late }), undefined);
    assert.deepEqual(await of(store).replay({ ...long, ...late }), { record: two, version: 1 });
  });
}
