import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type Caller, type Scope, scopes } from '../../domain/caller.ts';
import { instantFromMs, isInstant } from '../../domain/instant.ts';
import { isPlainObject } from '../../domain/json.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Judged, TokenVerifier } from '../../ports/token-verifier.ts';
import { CredentialsError } from './errors.ts';
import { withLock } from './file-lock.ts';

/** A line of a key file. */
export interface KeyRecord {
  readonly id: string;
  /** SHA-256 of the token in hexadecimal: a token has 256 random bits, so one round is enough. */
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  /** What people call the key; two may have one name. */
  readonly name?: string | undefined;
  /** When it was made: an instant. */
  readonly created?: string | undefined;
  /** The id of the user that the key stands for. */
  readonly subject?: string | undefined;
  /** An instant; the key is good before it. */
  readonly expires?: string | undefined;
}

/** How the token of every key begins. */
const keyForm = 'rk_';

const idForm = /^[A-Za-z0-9-]{1,32}$/;

/** A name of one line. */
const nameForm = /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u;

/** True for what a key can be called. */
export function isKeyName(name: unknown): name is string {
  return typeof name === 'string' && nameForm.test(name) && name.trim() === name;
}

/** How often the file is looked at, at most. */
const lookMs = 1000;

/** A key, made ready for requests. */
interface Key {
  /** How its token begins: under another id, a line is for no token. */
  readonly prefix: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly caller: Caller;
}

/**
 * Keys of a file of JSON lines. The file is read again when it changes; one that cannot be read
 * then leaves the keys as they were, and is logged.
 */
export class KeyFile implements TokenVerifier {
  readonly #path: string;
  readonly #logger: Logger | undefined;
  /** By the SHA-256 of their tokens, in hexadecimal. */
  #keys: ReadonlyMap<string, Key>;
  #seen: string;
  #looked = performance.now();

  /** @throws CredentialsError */
  constructor(path: string, logger?: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#seen = stateOf(path);
    this.#keys = prepared(readKeys(path));
  }

  known(token: string): Caller | undefined {
    const found = this.authenticate(token);
    return found === undefined || 'refused' in found ? undefined : found;
  }

  authenticate(token: string): Judged {
    if (!token.startsWith(keyForm)) return undefined;
    this.#refresh();
    // The time of a lookup may tell of a digest, and no token can be made from one.
    const key = this.#keys.get(digest(token));
    if (key === undefined || !token.startsWith(key.prefix)) return { refused: 'key' };
    return Date.now() < key.expires ? key.caller : { refused: 'exp' };
  }

  #refresh(): void {
    const now = performance.now();
    if (now - this.#looked < lookMs) return;
    this.#looked = now;
    let state = '';
    try {
      state = stateOf(this.#path);
      if (state === this.#seen) return;
      this.#keys = prepared(readKeys(this.#path));
      this.#logger?.info({ keys: this.#keys.size }, 'The key file was read again.');
    } catch (err) {
      if (state === this.#seen) return;
      this.#logger?.error({ err }, 'The key file cannot be read; the keys stay as they were.');
    }
    this.#seen = state;
  }
}

function prepared(records: ReadonlyMap<string, KeyRecord>): ReadonlyMap<string, Key> {
  return new Map(
    [...records].map(([id, { sha256, subject = null, scopes: given, expires }]) => {
      const caller = Object.freeze({ name: `key:${id}`, subject, scopes: new Set(given) });
      const until = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires);
      return [sha256, { prefix: prefixOf(id), expires: until, caller }];
    }),
  );
}

/**
 * Adds a key.
 *
 * @returns its token, which the file does not have
 * @throws CredentialsError for a file that a server refuses
 */
export function addKey(
  path: string,
  given: Pick<KeyRecord, 'scopes' | 'name' | 'subject' | 'expires'>,
): { readonly token: string; readonly key: KeyRecord } {
  const id = randomBytes(6).toString('hex');
  const token = `${prefixOf(id)}${randomBytes(32).toString('base64url')}`;
  const { scopes, name, subject, expires } = given;
  const created = instantFromMs(Date.now());
  const key: KeyRecord = { id, sha256: digest(token), scopes, name, created, subject, expires };
  change(path, (keys) => keys.set(id, key).has(id));
  return { token, key };
}

/** The keys of a file. @throws CredentialsError */
export function listKeys(path: string): readonly KeyRecord[] {
  return [...readKeys(path).values()];
}

/**
 * Removes a key. The file keeps its owner and its mode: a server that could no longer read it would
 * keep the key.
 *
 * @returns false when there is no key with this id
 */
export function revokeKey(path: string, id: string): boolean {
  readKeys(path); // There has to be a file.
  const isThere = change(path, (keys) => keys.delete(id));
  if (isThere && readKeys(path).has(id)) {
    throw new CredentialsError(`The key ${id} is in ${path} again: another program put it there.`);
  }
  return isThere;
}

/**
 * Changes the file in one step, while no other command does: a new file takes its place, with the
 * same owner and mode. After a loss of power it is the old one or the new one.
 *
 * @param edit changes the keys, and returns whether it did
 * @returns whether the file was changed
 * @throws CredentialsError for a file that a server refuses
 */
function change(path: string, edit: (keys: Map<string, KeyRecord>) => boolean): boolean {
  const before = statSync(path, { throwIfNoEntry: false });
  const file = before === undefined ? path : realpathSync(path);
  return withLock(file, (checkLock) => {
    const like = statSync(file, { throwIfNoEntry: false });
    const keys = like === undefined ? new Map() : readKeys(file);
    if (!edit(keys)) return false;
    const text = Array.from(keys.values(), (key) => `${JSON.stringify(key)}\n`).join('');
    const made = `${file}.${randomBytes(6).toString('hex')}.new`;
    try {
      write(made, 'wx', text, like);
      checkLock();
      renameSync(made, file);
    } catch (error) {
      rmSync(made, { force: true });
      throw error;
    }
    if (process.platform !== 'win32') write(dirname(file), 'r');
    return true;
  });
}

/** Writes a text, if any, and syncs the file; with the owner and mode of another, if given. */
function write(path: string, flags: string, text = '', like?: Stats): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    if (like !== undefined) {
      fchownSync(descriptor, like.uid, like.gid);
      fchmodSync(descriptor, like.mode);
    }
    if (text !== '') writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function prefixOf(id: string): string {
  return `${keyForm}${id}_`;
}

function digest(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Changes whenever the file does. */
function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : [found.ino, found.size, found.mtimeMs, found.ctimeMs].join();
}

function readKeys(path: string): Map<string, KeyRecord> {
  const text = readFile(path);
  // Windows has no such bits.
  if (process.platform !== 'win32' && (statSync(path).mode & 0o022) !== 0) {
    throw new CredentialsError(
      `Others than its owner may write to the key file ${path}: run chmod 600 on it.`,
    );
  }
  return parseKeys(path, text);
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const message =
      (cause as NodeJS.ErrnoException).code === 'ENOENT'
        ? `There is no key file ${path}: make one with rostrum key create.`
        : `The key file ${path} cannot be read.`;
    throw new CredentialsError(message, { cause });
  }
}

function parseKeys(path: string, text: string): Map<string, KeyRecord> {
  const keys = new Map<string, KeyRecord>();
  const digests = new Set<string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const key = parseKey(line);
    const wrong = (what: string) =>
      new CredentialsError(`Line ${index + 1} of the key file ${path} ${what}.`);
    if (key === undefined) throw wrong('is not a key');
    if (keys.has(key.id)) throw wrong('has the id of another key');
    // Revoking one of the two would leave the token valid.
    if (digests.has(key.sha256)) throw wrong('is for the token of another key');
    keys.set(key.id, key);
    digests.add(key.sha256);
  }
  return keys;
}

function parseKey(line: string): KeyRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isPlainObject(value)) return undefined;
  const { id, sha256, scopes: given, name, created, subject, expires, ...rest } = value;
  const isKey =
    Object.keys(rest).length === 0 &&
    typeof id === 'string' &&
    idForm.test(id) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Array.isArray(given) &&
    given.every((scope) => scopes.includes(scope)) &&
    (name === undefined || isKeyName(name)) &&
    (created === undefined || isInstant(created)) &&
    (subject === undefined || (typeof subject === 'string' && subject !== '')) &&
    (expires === undefined || isInstant(expires));
  return isKey ? { id, sha256, scopes: given, name, created, subject, expires } : undefined;
}
