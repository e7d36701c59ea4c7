/**
 * A key of Rostrum's, and a JSON Web Token: a path, a user agent or a request id may hold one by mistake,
 * also right behind other characters (`Bearer%20rk_…`).
 */
const secrets = /rk_[A-Za-z0-9-]{1,32}_[\w-]+|ey[A-L][\w-]{8,}\.[\w-]{2,}(?:\.[\w-]*)?/g;

/** How much of a text is looked at, and how much of it a line of the log has. */
const [looked, shown] = [2048, 256];

/** A text that a client made up, as the log may have it: short, and without what looks like a secret. */
export function logged(text: string): string {
  const bounded = text.length > looked ? text.slice(0, looked) : text;
  const masked =
    bounded.includes('rk_') || bounded.includes('ey') ? bounded.replace(secrets, '***') : bounded;
  return masked.length > shown ? masked.slice(0, shown) : masked;
}
