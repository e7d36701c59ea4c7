// The reference: the description of the API, made shorter to read, in Swagger UI.

import { offerCopy } from './copy.ts';
import {
  type Description,
  nameOf,
  type Operation,
  type Parameter,
  type Response,
} from './description.ts';
import { samplesOf } from './samples.ts';

declare const SwaggerUIBundle: (options: object) => void;

const { description = '', site = '' } = document.documentElement.dataset;

type Responses = readonly (readonly [status: string, response: Response])[];

/** Statuses with their codes, as links to what each means. */
function errorsOf(responses: Responses): string {
  const all = responses.map(([status, { $ref = '' }]) => {
    const codes = nameOf($ref).split('.');
    return `**${status}** ${codes.map((code) => `[\`${code}\`](${site}/problems/${code})`).join(', ')}`;
  });
  return all.join(' · ');
}

/** What each of these headers says, folded. */
function headersOf(names: readonly string[], { components }: Description): string {
  const rows = names.map((name) => `- \`${name}\`: ${components.headers[name]?.description}`);
  return `<details><summary>Headers: ${names.join(', ')}</summary>\n\n${rows.join('\n')}\n\n</details>`;
}

/**
 * Says what all operations may end in once, and what else each may end in one row of it.
 *
 * @returns the former
 */
function shortenResponses(given: Description): string {
  const operations = Object.values(given.paths).flatMap((methods) => Object.values(methods));
  const common: Responses = Object.entries(operations[0]?.responses ?? {}).filter(
    ([status, { $ref }]) =>
      $ref && operations.every(({ responses }) => responses[status]?.$ref === $ref),
  );
  const everywhere = ['X-Request-Id', 'Cache-Control'];
  for (const operation of operations) {
    const own = Object.entries(operation.responses);
    const errors = own.filter(([, { $ref }]) => $ref);
    for (const [status] of errors) delete operation.responses[status];
    for (const [, response] of own) {
      const names = Object.keys(response.headers ?? {}).filter(
        (name) => !everywhere.includes(name),
      );
      if (names.length > 0) response.description += `\n\n${headersOf(names, given)}`;
      delete response.headers;
    }
    const others = errors.filter(([status]) => !common.some(([one]) => one === status));
    if (others.length > 0) operation.responses.Errors = { description: errorsOf(others) };
  }
  // Each error has a page of its own.
  for (const code of Object.keys(given.components.responses ?? {}).flatMap((all) => all.split('.')))
    delete given.components.schemas[code];
  delete given.components.responses;
  return `<details><summary>What any request may end in</summary>

${common.map((one) => `- ${errorsOf([one])}`).join('\n')}

All have [one shape](${site}/problems), and each operation names what else it may end in.

</details>

${headersOf(everywhere, given)}`;
}

/** How many parameters stand there at most. */
const shown = 8;
/** Those that fewer readers look for: bounds, beginnings, and what a list or a request may also have. */
const rare = /\]$|^(?:count|fields|id|X-Request-Id)$/;

/** Folds the parameters that are rare, or too many. */
function foldParameters(operation: Operation, { components }: Description): void {
  const all = operation.parameters.map((one) => {
    return one.$ref === undefined ? one : { ...components.parameters[nameOf(one.$ref)] };
  });
  const isOther = ({ name = '', in: place }: Parameter) => place !== 'path' && rare.test(name);
  const first = all.filter((parameter) => !isOther(parameter));
  const others = [...first.splice(shown), ...all.filter(isOther)];
  const names = new Set(others.map(({ name = '' }) => name.replace(/\[.*/, '[…]')));
  if (others[0] !== undefined)
    others[0]['x-others'] = `${others.length} more: ${[...names].join(', ')}`;
  operation.parameters = [...first, ...others];
}

/** What is for programs: the library would show each pattern, and make up fields that nobody names. */
const machine = ['additionalProperties', 'propertyNames', 'pattern'];

/** Values of records, in which a key is no word of JSON Schema. */
const values = ['example', 'examples', 'default', 'const', 'enum'];

/** @param areNames whether the keys are names of fields, and not words of JSON Schema */
function forPeople(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => forPeople(one));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => areNames || !machine.includes(key));
  const shown = ([key, one]: [string, unknown]) =>
    !areNames && values.includes(key)
      ? ([key, one] as const)
      : ([key, forPeople(one, !areNames && key === 'properties')] as const);
  return Object.fromEntries(kept.map(shown));
}

/** @throws where the server sends no description, or the library did not come */
async function describe(): Promise<Description> {
  const response = await fetch(description);
  if (!response.ok || !('SwaggerUIBundle' in window)) throw new Error();
  return forPeople(await response.json()) as Description;
}

/** There is nothing more to show then. */
function giveUp(): Promise<never> {
  const text = 'The server does not send all of this page at present: load it again.';
  const alert = Object.assign(document.createElement('p'), { role: 'alert', textContent: text });
  document.querySelector('#docs')?.replaceChildren(alert);
  return new Promise(() => {});
}

const given = await describe().catch(giveUp);
const isAsked = given.components.securitySchemes !== undefined;
const api = new URL(given.servers[0]?.url ?? '', location.href).href.replace(/\/$/, '');
const about = `${given.info.description} All paths are below \`${api}\`.\n\n${shortenResponses(given)}`;
for (const [path, methods] of Object.entries(given.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    foldParameters(operation, given);
    const url = `${api}${path.replace('{id}', 'ID')}`;
    const samples = samplesOf(method, url, operation, given, isAsked);
    operation.description += `\n\n${samples}`;
  }
}

/** What the library leaves to be mended for keyboards and screen readers. */
const mended = [
  ['pre', 'tabindex', '0'],
  ['#docs h3', 'aria-level', '2'],
  ['#docs h4', 'aria-level', '3'],
  ['#docs h5', 'aria-level', '4'],
  ['#docs .body-param textarea', 'aria-label', 'Request body'],
  ['#docs .close-modal', 'aria-label', 'Close'],
  ['#docs .auth.authorize', 'aria-label', 'Authorize'],
  ['#docs .auth:not(.authorize, .btn-done)', 'aria-label', 'Logout'],
] as const;

function mend(): void {
  for (const [selector, name, value] of mended) {
    for (const element of document.querySelectorAll(`${selector}:not([${name}="${value}"])`)) {
      element.setAttribute(name, value);
    }
  }
  for (const row of document.querySelectorAll<HTMLElement>('#docs [data-param-name]')) {
    const field = row.querySelector('input, select, textarea');
    field?.setAttribute('aria-label', row.dataset.paramName ?? '');
  }
  for (const code of document.querySelectorAll('#docs details pre:not(:has(+ .copy))'))
    offerCopy(code);
  // A link inside of a button, which does the same.
  for (const link of document.querySelectorAll('button a[href]')) link.removeAttribute('href');
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });

type Component<Props> = ((props: Props) => object) | string;

interface System {
  readonly React: {
    readonly Fragment: Component<object>;
    createElement<Props>(type: Component<Props>, props?: Props | null, ...of: unknown[]): object;
  };
  getComponent(name: string, isContainer: true): Component<object>;
}

/** What is on the page, in its order. */
const parts = ({ React: { createElement: h }, getComponent }: System) => ({
  components: {
    Reference: () =>
      h(
        ...(['div', { className: 'swagger-ui' }] as const),
        h(getComponent('Markdown', true), { source: about }),
        isAsked && h(getComponent('AuthorizeBtnContainer', true)),
        ...['operations', 'Models'].map((name) => h(getComponent(name, true))),
      ),
  },
});

interface Row {
  readonly param: ReadonlyMap<string, string>;
}

/** A row of its own before the first folded parameter; the style hides the others while it is closed. */
const folds = ({ React: { createElement: h, Fragment } }: System) => ({
  wrapComponents: {
    parameterRow: (original: Component<Row>) => (props: Row) => {
      const row = h(original, props);
      const others = props.param.get('x-others');
      if (others === undefined) return row;
      const details = h('details', null, h('summary', null, others));
      return h(Fragment, null, h('tr', null, h('td', { colSpan: 2 }, details)), row);
    },
  },
});

SwaggerUIBundle({
  spec: given,
  dom_id: '#docs',
  layout: 'Reference',
  plugins: [parts, folds],
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
});
