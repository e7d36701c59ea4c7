// Prints how many of 2,000 pipelined requests, which arrive in a few chunks, the HTTP parser has built. A program of its
// own, to run on any version of Node.

import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import Koa from 'koa';
import { serve } from '../../../../src/adapters/http/index.ts';

let parsed = 0;
subscribe('http.server.request.start', () => {
  parsed += 1;
});
const server = await serve(new Koa(), { port: 0 });
const socket = connect(server.address.port, '127.0.0.1').on('error', () => {});
socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000));
await once(socket, 'close');
await server.close();
console.log(parsed);
