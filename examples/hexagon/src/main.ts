import { createContainer, tokens } from './adapters/inversify/container.ts';

const { STORE = 'sqlite:data.db', HOST = '127.0.0.1', PORT = '3000' } = process.env;

const container = createContainer(STORE);
const store = await container.getAsync(tokens.store);
const app = await container.getAsync(tokens.app);
const server = app.listen(Number(PORT), HOST, () => {
  console.log(`Serving http://${HOST}:${PORT} from ${STORE}`);
});

/** Completes the requests in progress, then closes the store. */
const stop = () => server.close(() => store.close());
process.once('SIGINT', stop).once('SIGTERM', stop);
