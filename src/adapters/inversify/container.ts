import { Container } from 'inversify';
import type { Store } from '../../ports/store.ts';
import { declaredFieldsOf, type GivenSettings, withDefaults } from '../../settings/settings.ts';
import { parts } from './modules.ts';
import { openStore } from './open-store.ts';
import { type Token, tokens } from './tokens.ts';

/** Replaces or decorates a part of a container while the container is created. */
export type Override = (container: Container) => void;

/**
 * Replaces one part of the container. `make` runs when the part is first requested. {@link closeContainer}
 * also closes a store created this way.
 */
export function override<T>(token: Token<T>, make: () => T | Promise<T>): Override {
  return (container) => {
    const opens = token === (tokens.store as Token<unknown>);
    const part = opens ? () => opening(container, make) : make;
    container.rebind(token).toResolvedValue(part);
  };
}

/**
 * Decorates one part of the container. `around` runs once, with the part that the container would
 * have without it. A store that wraps another one must close it.
 */
export function decorate<T>(token: Token<T>, around: (inner: T) => T | Promise<T>): Override {
  return (container) => {
    container.onActivation(token, (_context, inner) => around(inner));
  };
}

/**
 * The state of a container's store. Inversify's deactivation is not used: it fails if a store could not
 * be opened, and hides why.
 */
interface StoreState {
  readonly opened: Store[];
  /** True once a store was requested. */
  isOpening: boolean;
  isClosed: boolean;
}

const states = new WeakMap<Container, StoreState>();

/** @throws Error if the container is closed */
function opening<T>(container: Container, open: () => T): T {
  const state = states.get(container);
  if (state?.isClosed) throw new Error('The container is closed.');
  if (state !== undefined) state.isOpening = true;
  return open();
}

/**
 * Creates a container with every part of the program (`tokens`). A part is created when `getAsync` first
 * requests it. Overrides must be passed here, because parts keep their dependencies. They apply in
 * order: an override replaces a part together with its earlier decorators.
 *
 * {@link closeContainer} closes the store if one was opened.
 *
 * @param settings absent and undefined ones have their defaults
 * @throws TypeError for an unknown setting
 */
export function createContainer(
  settings: GivenSettings = {},
  ...overrides: readonly Override[]
): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(tokens.settings).toConstantValue(withDefaults(settings));
  container.load(parts);
  const state: StoreState = { opened: [], isOpening: false, isClosed: false };
  states.set(container, state);
  container
    .bind(tokens.store)
    .toResolvedValue(
      ({ store: url, field }, logger) =>
        opening(container, () =>
          openStore(url, logger, { declaredFields: declaredFieldsOf(field) }),
        ),
      [tokens.settings, tokens.logger],
    );
  for (const apply of overrides) apply(container);
  container.onActivation(tokens.store, (_context, store) => {
    state.opened.push(store);
    return store;
  });
  return container;
}

/**
 * Closes the store of a container, also one that is still being opened. The container must not be used
 * afterwards: it no longer opens a store.
 */
export async function closeContainer(container: Container): Promise<void> {
  const state = states.get(container);
  if (state === undefined) return;
  state.isClosed = true;
  // The caller that requested the store already has the error.
  if (state.isOpening) await container.getAsync(tokens.store).catch(() => {});
  await Promise.all(state.opened.map((store) => store.close()));
}
