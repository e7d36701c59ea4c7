import { Router } from '@koa/router';
import Koa from 'koa';
import type { Notes } from '../../domain/notes.ts';
import type { Owners } from '../../domain/owners.ts';
import { addNoteRoutes } from './note-routes.ts';
import { addOwnerRoutes } from './owner-routes.ts';
import { handleErrors } from './problems.ts';

/** Requests pass through the middleware from top to bottom. */
export function createApp(notes: Notes, owners: Owners): Koa {
  const router = new Router();
  addNoteRoutes(router, notes);
  addOwnerRoutes(router, owners);

  const app = new Koa();
  app.use(handleErrors);
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}
