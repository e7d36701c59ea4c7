import { randomUUID } from 'node:crypto';
import { Container, type ServiceIdentifier } from 'inversify';
import type Koa from 'koa';
import type { Store } from '../../ports/store.ts';
import { createNotes, type Notes } from '../../use-cases/notes.ts';
import { createOwners, type Owners } from '../../use-cases/owners.ts';
import { createApp } from '../http/app.ts';
import { createMemoryStore } from '../memory/memory-store.ts';
import { openMongodbStore } from '../mongodb/mongodb-store.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';

/** A token carries a type: binding it to a part of another type is a compile error. */
const token = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

export const tokens = {
  store: token<Store>('store'),
  notes: token<Notes>('notes'),
  owners: token<Owners>('owners'),
  app: token<Koa>('app'),
};

/** The composition root: the only file that connects ports and adapters. */
export function createContainer(storeUrl: string): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  const { store, notes, owners, app } = tokens;
  container.bind(store).toResolvedValue(() => openStore(storeUrl));
  container.bind(notes).toResolvedValue((opened) => createNotes(opened, uuidV7), [store]);
  container.bind(owners).toResolvedValue((opened) => createOwners(opened, uuidV7), [store]);
  container.bind(app).toResolvedValue(createApp, [owners, notes]);
  return container;
}

async function openStore(url: string): Promise<Store> {
  if (url === 'memory:') return createMemoryStore();
  if (url.startsWith('sqlite:')) return openSqliteStore(url.slice('sqlite:'.length));
  if (url.startsWith('mongodb')) return openMongodbStore(url);
  throw new Error(`STORE must be "memory:", "sqlite:FILE" or "mongodb://…", but is "${url}".`);
}

/** Returns a version 7 UUID (RFC 9562). It begins with the time, so ids of later milliseconds are greater. */
const uuidV7 = (time = Date.now().toString(16).padStart(12, '0')): string =>
  `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
