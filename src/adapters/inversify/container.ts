import type { ServiceIdentifier } from 'inversify';
import type { Store } from '../../ports/store.ts';
import { defaultSettings, type Settings } from '../../settings/settings.ts';
import { coreModule, httpModule, systemModule } from './modules.ts';
import { Container } from './peers.ts';
import { tokens } from './tokens.ts';

/** Swaps a part of a container that is being made. */
export type Override = (container: Container) => void;

/**
 * An override: this part in place of the usual one. It is made when it is first asked for; a store
 * that is made this way is closed with the container, too.
 */
export function override<T>(token: ServiceIdentifier<T>, make: () => T | Promise<T>): Override {
  return (container) => {
    container.rebind(token).toResolvedValue(make).inSingletonScope();
  };
}

/**
 * The stores that each container opened. Not left to Inversify's deactivation: that fails on a
 * store that could not be opened, and so hides why.
 */
const opened = new WeakMap<Container, Store[]>();

/**
 * A container with every part of the program (`tokens`), made when they are asked for with
 * `getAsync`. Swaps are given here, because a part that was made keeps what it was made with.
 *
 * {@link closeContainer} closes the store, if one was opened.
 */
export function createContainer(
  settings: Partial<Settings> = {},
  ...overrides: readonly Override[]
): Container {
  const container = new Container();
  container.bind(tokens.settings).toConstantValue({ ...defaultSettings, ...settings });
  container.load(systemModule, coreModule, httpModule);
  for (const apply of overrides) apply(container);
  const stores: Store[] = [];
  opened.set(container, stores);
  container.onActivation(tokens.store, (_context, store) => {
    stores.push(store);
    return store;
  });
  return container;
}

/** Closes what a container opened. It is of no use afterwards. */
export async function closeContainer(container: Container): Promise<void> {
  await Promise.all((opened.get(container) ?? []).map((store) => store.close()));
}
