import { allPages, type PageName } from '../options.ts';

/** What is served beside the API, and where. */
export interface Site {
  /** Where clients see the server, if that is set; else it is empty. */
  readonly base: string;
  /** The path of the API below it. */
  readonly prefix: string;
  readonly pages: ReadonlySet<PageName>;
  /** The links on top of each page; the first leads home. */
  readonly links: readonly (readonly [path: string, name: string])[];
  /** The sources of a policy that are the server itself. */
  readonly own: string;
}

/**
 * @param names of the pages that are switched on; all when absent
 * @param isInstalled whether what a page is made by is there
 */
export function siteOf(
  base: string,
  prefix: string,
  names: readonly PageName[] = allPages,
  isInstalled: Readonly<Record<PageName, () => boolean>>,
): Site {
  const pages = new Set(names.filter((name) => isInstalled[name]()));
  const all = [
    ['home', '/', 'Rostrum'],
    ['docs', '/docs', 'Reference'],
    ['docs', '/docs/guides', 'Guides'],
    ['admin', '/admin', 'Admin'],
  ] as const;
  const links = all.flatMap(([page, path, name]) =>
    pages.has(page) || page === 'home' ? [[base + path, name] as const] : [],
  );
  const own = base === '' ? "'self'" : `'self' ${new URL(base).origin}`;
  return { base, prefix, pages, links, own };
}
