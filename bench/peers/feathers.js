// A Feathers server according to its documentation, with Koa, Knex and better-sqlite3. Runs in the folder where
// they are installed.

import { feathers } from '@feathersjs/feathers';
import { KnexService } from '@feathersjs/knex';
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa';
import knex from 'knex';

const [, , port, filename] = process.argv;
const Model = knex({ client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true });
await Model.raw('PRAGMA journal_mode = WAL');
await Model.raw('PRAGMA synchronous = FULL');
await Model.schema.createTable('posts', (table) => {
  table.increments('id');
  table.string('title').notNullable();
  table.text('body').notNullable();
  table.string('createdAt').notNullable().index();
});
class Posts extends KnexService {
  create(data, params) {
    return super._create({ ...data, createdAt: new Date().toISOString() }, params);
  }
  find(params) {
    return super._find(params);
  }
  get(id, params) {
    return super._get(id, params);
  }
}
const app = koa(feathers());
app.use(errorHandler());
app.use(bodyParser());
app.configure(rest());
app.use('posts', new Posts({ Model, name: 'posts', paginate: { default: 20, max: 100 } }));
await app.listen(Number(port), '127.0.0.1');
