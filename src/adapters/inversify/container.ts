import { Container, type ServiceIdentifier } from 'inversify';
import type { Store } from '../../ports/store.ts';
import { type GivenSettings, withDefaults } from '../../settings/settings.ts';
import { accessModule, coreModule, httpModule, systemModule } from './modules.ts';
import { tokens } from './tokens.ts';

/** Replaces or decorates a part of a container while it is made. */
export type Override = (container: Container) => void;

/**
 * Replaces one part of the container. `make` runs when the part is first asked for. A store that is
 * made this way is closed with the container, too.
 */
export function override<T>(token: ServiceIdentifier<T>, make: () => T | Promise<T>): Override {
  return (container) => {
    container.rebind(token).toResolvedValue(make).inSingletonScope();
  };
}

/**
 * Puts something around one part of the container. It runs once, with the part that the container would
 * have without it. A store that is put around another one closes it.
 */
export function decorate<T>(
  token: ServiceIdentifier<T>,
  around: (inner: T) => T | Promise<T>,
): Override {
  return (container) => {
    container.onActivation(token, (_context, inner) => around(inner));
  };
}

/**
 * The stores that each container opened. Inversify's deactivation is not used: it fails on a store
 * that could not be opened, and hides why.
 */
const opened = new WeakMap<Container, Store[]>();

/**
 * Makes a container with every part of the program (`tokens`). A part is made when `getAsync` first
 * asks for it. Overrides are given here, because a part keeps what it was made with. They apply in
 * their order: an override takes the place of the part with all that was put around it before.
 *
 * {@link closeContainer} closes the store, if one was opened.
 *
 * @param settings what is absent or undefined has its default
 * @throws TypeError for a setting that is not known
 */
export function createContainer(
  settings: GivenSettings = {},
  ...overrides: readonly Override[]
): Container {
  const container = new Container();
  container.bind(tokens.settings).toConstantValue(withDefaults(settings));
  container.load(systemModule, coreModule, accessModule, httpModule);
  for (const apply of overrides) apply(container);
  const stores: Store[] = [];
  opened.set(container, stores);
  container.onActivation(tokens.store, (_context, store) => {
    stores.push(store);
    return store;
  });
  return container;
}

/** Closes what a container opened. The container must not be used afterwards. */
export async function closeContainer(container: Container): Promise<void> {
  await Promise.all((opened.get(container) ?? []).map((store) => store.close()));
}
