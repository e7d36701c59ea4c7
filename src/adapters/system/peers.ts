import { loadPeers } from '../peer.ts';

export const { destination, pino } = await loadPeers("rostrum's log", 'pino', () => import('pino'));
