import { loadPeers } from '../peer.ts';

export const {
  MongoClient,
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} = await loadPeers('rostrum/mongodb', 'mongodb', () => import('mongodb'));
