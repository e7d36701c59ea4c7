import { resolve } from 'node:path';

const client = resolve(import.meta.dirname, '..', 'packages', 'rostrum-client', 'src');

export default {
  clearScreen: false,
  server: {
    proxy: { '/api': process.env.ROSTRUM },
    fs: { allow: [process.cwd(), client] },
  },
  resolve: {
    alias: {
      'rostrum-client/react-admin': resolve(client, 'react-admin.ts'),
      'rostrum-client/refine': resolve(client, 'refine.ts'),
      'rostrum-client': resolve(client, 'index.ts'),
    },
  },
};
