import { loadPeers } from '../peer.ts';

export const {
  MongoBulkWriteError,
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
