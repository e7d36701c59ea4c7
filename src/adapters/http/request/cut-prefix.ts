import type { Logger } from '../../../ports/logger.ts';
import { loggedPath } from '../operator/log.ts';
import { parseTarget } from './target.ts';

/** What Connect and Express know of a request whose path a mount has shortened. */
interface Mounted {
  readonly url?: string | undefined;
  /** What the client asked for. */
  readonly originalUrl?: string | undefined;
  /** What the mounts of Express have cut off, all of it for a route that ends in a wildcard. */
  readonly baseUrl?: string | undefined;
}

/** The target with what Express has cut off it. */
export function uncut({ url = '', baseUrl = '' }: Mounted): string {
  return baseUrl === '' ? url : baseUrl + url.replace(/^\/(?=\?|$)/, '');
}

export function isCut({ url, originalUrl = url }: Mounted): boolean {
  return url !== originalUrl;
}

/** The first part of every path below the prefix. */
const collections = /^\/(?:users|posts)(?:\/|$)/;

/**
 * Tells the log, once, of a request for what there would be if the prefix were empty: as a rule
 * whatever stands in front cuts the prefix off.
 *
 * @param front the prefix, as paths have it
 */
export function cutPrefixLog(front: string, logger: Logger | undefined): (url: string) => void {
  let isSaid = front === '' || logger === undefined;
  return (url) => {
    const target = parseTarget(url);
    if (isSaid || !collections.test(target.path)) return;
    isSaid = true;
    const path = loggedPath(target);
    logger?.warn(
      { path, prefix: front },
      `Nothing is served under ${path}, which lacks the prefix ${front}. If the app or a proxy in front ` +
        'cuts the prefix off, the option prefix has to be what is left of it, such as "/".',
    );
  };
}
