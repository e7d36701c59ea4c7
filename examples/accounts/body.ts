// The bodies of posts as HTML. Members can write a script into a body, so nothing leaves this
// module unsanitized.

import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';
import { Markup } from './html.ts';

interface Text {
  readonly body: string;
  readonly format?: string | null | undefined;
}

const markdown = new MarkdownIt({ html: true, linkify: true });

const tags =
  'h2 h3 h4 h5 h6 p br hr blockquote pre ul ol li dl dt dd table caption thead tbody tfoot tr th td ' +
  'figure figcaption details summary a img em strong b i u s del ins mark code kbd samp var sub sup ' +
  'small q cite abbr';

const allowed: sanitize.IOptions = {
  allowedTags: tags.split(' '),
  // No `id`, `name` or `class`: a post must not imitate or cover parts of the page.
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'title', 'width', 'height', 'loading'],
    abbr: ['title'],
    ol: ['start'],
    th: ['colspan', 'rowspan'],
    td: ['colspan', 'rowspan'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  nestingLimit: 100,
  transformTags: {
    h1: 'h2', // The title of the page is its only h1.
    a: sanitize.simpleTransform('a', { rel: 'nofollow ugc' }),
    img: (tagName, attribs) => ({ tagName, attribs: { alt: '', ...attribs, loading: 'lazy' } }),
  },
};

/** Returns the body of a post as HTML. A body without a format is HTML, such as that of an imported post. */
export function bodyOf(post: Text): Markup {
  return new Markup(sanitize(unsafe(post), allowed));
}

/** Returns the first words of a body, without markup. */
export function excerptOf({ body, format }: Text): string {
  // Enough source for the words below, even in a body with many long links.
  const start = unsafe({ body: body.slice(0, 4000), format });
  const options = { allowedTags: [], allowedAttributes: {}, nestingLimit: 100, nonTextTags };
  const text = sanitize(start, options)
    .replace(/&(lt|gt|quot|amp);/g, (entity) => chars[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
  return text.length <= 240 ? text : `${text.slice(0, 240).replace(/\s+\S*$/, '')} …`;
}

/** What an excerpt leaves out, with what is in it. */
const nonTextTags = 'script style textarea option noscript h1 h2 h3 h4 h5 h6 pre table'.split(' ');

const chars: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

/** Tags that begin a block of their own, which needs no paragraph around it. */
const block = /^<[/!]?(?:h\d|ul|ol|li|dl|pre|table|tr|t[dh]|blockquote|figure|div|hr|--)/i;

/** WordPress: `[caption width="300"]<img …> Text[/caption]`. Nothing in it can match in two ways, so it stays fast. */
const caption =
  /\[caption[^[\]]*\]\s*((?:<a [^<>]*>)?<img [^<>]*>(?:<\/a>)?)([^[\n]*)\[\/caption\]/g;

function unsafe({ body, format }: Text): string {
  if (format === 'markdown') return markdown.render(body);
  if (/<p[\s>]/i.test(body)) return body;
  // WordPress separates paragraphs by blank lines, without tags.
  const captioned = body.replace(caption, '<figure>$1<figcaption>$2</figcaption></figure>');
  const parts = captioned.split(/\n\s*\n/).map((part) => part.trim());
  return parts.map((part) => (block.test(part) ? part : `<p>${part}</p>`)).join('\n');
}
