import { expect } from 'chai';
import { isRostrumError, type RostrumError } from '../../../../src/domain/errors.ts';
import type { Post } from '../../../../src/domain/records/post.ts';
import type { Versioned } from '../../../../src/domain/records/record.ts';
import type { User } from '../../../../src/domain/records/user.ts';
import type { EventPosition, RecordEvent, Store } from '../../../../src/ports/index.ts';
import { errorOf } from '../../../support/error-of.ts';

const at = '2026-05-05T05:05:05.000Z';

export function user(id: string, fields: Partial<User> = {}): User {
  return { id, createdAt: at, updatedAt: at, name: `Name of ${id}`, email: null, ...fields };
}

export function post(id: string, fields: Partial<Post> = {}): Post {
  const times = { createdAt: at, updatedAt: at, publishedAt: at };
  return { id, ...times, title: 'T', body: '', authorId: null, ...fields };
}

/** Returns a stored record as a plain value that can be compared. */
export function plain<R>(one: Versioned<R> | undefined) {
  return one && { record: one.record, version: one.version };
}

/** Expects a call to fail as unavailable and returns its error. */
export async function unavailable(
  call: Promise<unknown>,
): Promise<RostrumError<'store-unavailable'>> {
  const error = (await errorOf(call)) ?? new Error('The call was fulfilled.');
  if (!isRostrumError(error, 'store-unavailable')) throw error;
  expect(error.cause ?? error).to.be.instanceOf(Error);
  return error;
}

/** Returns the position at the end of the log. */
export async function endOf({ events }: Store): Promise<EventPosition> {
  return (await events?.read(1))?.next ?? '';
}

/** Returns all events after a position. */
export async function eventsOf({ events }: Store, after: EventPosition): Promise<RecordEvent[]> {
  const all: RecordEvent[] = [];
  for (let next = after; ; ) {
    const page = await events?.read(1000, next);
    if (page === undefined || page.events.length === 0) return all;
    all.push(...page.events);
    next = page.next;
  }
}

export const idsOf = (events: readonly RecordEvent[]) => events.map(({ id }) => id);
