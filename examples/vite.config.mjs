import { resolve } from 'node:path';

const client = resolve(import.meta.dirname, '..', 'src', 'client');

export default {
  server: {
    proxy: { '/api': process.env.ROSTRUM },
    fs: { allow: [process.cwd(), client] },
  },
  resolve: {
    alias: {
      'rostrum/client': resolve(client, 'index.ts'),
      'rostrum/react-admin': resolve(client, 'react-admin.ts'),
      'rostrum/refine': resolve(client, 'refine.ts'),
    },
  },
};
