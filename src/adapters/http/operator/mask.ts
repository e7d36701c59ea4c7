/**
 * Rostrum's keys and JSON Web Tokens. A path, a user agent or a request id can hold one by mistake, even
 * directly after other characters (`Bearer%20rk_…`).
 */
const secrets = /rk_[A-Za-z0-9-]{1,32}_[\w-]+|ey[A-L][\w-]{8,}\.[\w-]{2,}(?:\.[\w-]*)?/g;

/** How many characters of a text are searched for secrets, and how many are logged. */
const [searched, shown] = [2048, 256];

/** Prepares a client's text for the log: shortened, and with secrets masked. */
export function maskSecrets(text: string): string {
  const bounded = text.length > searched ? text.slice(0, searched) : text;
  const masked =
    bounded.includes('rk_') || bounded.includes('ey') ? bounded.replace(secrets, '***') : bounded;
  return masked.length > shown ? masked.slice(0, shown) : masked;
}
