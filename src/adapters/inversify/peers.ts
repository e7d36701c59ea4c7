import { loadPeers } from '../peer.ts';

export const { Container, ContainerModule } = await loadPeers(
  'rostrum/inversify',
  'inversify reflect-metadata',
  () => import('inversify'),
);

export type Container = import('inversify').Container;
