// The reference: the description of the API, made shorter to read, in Swagger UI.

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly anyOf?: object[] } }>>;
}

interface Parameter {
  readonly name?: string;
  description?: string;
}

interface Operation {
  description: string;
  parameters: Parameter[];
  responses: Record<string, Response>;
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
  };
}

interface Description {
  readonly info: { description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Record<string, Response>;
    readonly securitySchemes?: object;
  };
}

declare const SwaggerUIBundle: (options: object) => void;

const { description = '', site = '' } = document.documentElement.dataset;
const nameOf = ({ $ref = '' }: Response) => decodeURIComponent($ref.split('/').at(-1) ?? '');

/** The codes of a response of errors, as links to what each means. */
function linksOf(name: string): string {
  const codes = name.split('.').map((code) => `[\`${code}\`](${site}/problems/${code})`);
  return codes.join(', ');
}

/** Every operation has these responses: they are said once, and left out of each. */
function takeCommon(given: Description): void {
  const operations = Object.values(given.paths).flatMap((methods) => Object.values(methods));
  const [first] = operations;
  const common = Object.entries(first?.responses ?? {}).filter(([status, response]) => {
    const isEverywhere = operations.every(
      ({ responses }) => responses[status]?.$ref === response.$ref,
    );
    return response.$ref !== undefined && isEverywhere;
  });
  for (const operation of operations) {
    for (const [status] of common) delete operation.responses[status];
    for (const [status, response] of Object.entries(operation.responses)) {
      if (response.$ref === undefined) continue;
      operation.responses[status] = { description: linksOf(nameOf(response)) };
    }
  }
  const rows = common.map(([status, response]) => `| ${status} | ${linksOf(nameOf(response))} |`);
  given.info.description += `

Any request may end in one of these, and each operation below names what else it may end in. All have
[one shape](${site}/problems).

| Status | Code |
|---|---|
${rows.join('\n')}
`;
}

/** The bounds of a time are one parameter to read. */
function joinBounds(operation: Operation): void {
  const isOther = ({ name = '' }: Parameter) => /\[(?:gt|lte|lt)\]$/.test(name);
  operation.parameters = operation.parameters.filter((parameter) => !isOther(parameter));
  for (const parameter of operation.parameters) {
    if (!parameter.name?.endsWith('[gte]')) continue;
    const [name] = parameter.name.split('[');
    parameter.description += ` So do \`${name}[gt]\`, \`${name}[lte]\` and \`${name}[lt]\`, for after, until and before.`;
  }
}

/** A request of an operation in three languages. */
function samplesOf(
  method: string,
  path: string,
  operation: Operation,
  isAsked: boolean,
  api: string,
) {
  const url = `${api}${path.replace('{id}', 'ID')}`;
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.example;
  const headers: Record<string, string> = {
    ...(isAsked && { Authorization: 'Bearer KEY' }),
    ...(operation.requestBody && { 'Content-Type': 'application/json' }),
    ...(method === 'post' && { 'Idempotency-Key': '3f2a9c5e-order-17' }),
    ...(['put', 'patch', 'delete'].includes(method) && { 'If-Match': '"1"' }),
  };
  const all = Object.entries(headers);
  const json = JSON.stringify(body ?? {});
  const verb = method.toUpperCase();
  const curl = [
    `curl ${verb === 'GET' ? '' : `-X ${verb} `}${url}`,
    ...all.map(([name, value]) => `  -H '${name}: ${value}'`),
    ...(operation.requestBody ? [`  -d '${json}'`] : []),
  ].join(' \\\n');
  const inner = [
    ...(verb === 'GET' ? [] : [`  method: '${verb}',`]),
    ...(all.length > 0 ? [`  headers: ${JSON.stringify(headers)},`] : []),
    ...(operation.requestBody ? [`  body: JSON.stringify(${json}),`] : []),
  ];
  const options = inner.length > 0 ? `, {\n${inner.join('\n')}\n}` : '';
  const javascript = `const response = await fetch('${url}'${options});\nconsole.log(await response.json());`;
  const given = [
    `    '${url}',`,
    ...(all.length > 0 ? [`    headers=${JSON.stringify(headers)},`] : []),
    ...(operation.requestBody ? [`    json=${json},`] : []),
  ];
  const python = `import requests\n\nresponse = requests.${method}(\n${given.join('\n')}\n)\nprint(response.json())`;
  const samples = { curl, JavaScript: javascript, Python: python };
  return Object.entries(samples)
    .map(
      ([name, text]) =>
        `<details><summary>${name}</summary>\n\n\`\`\`\n${text}\n\`\`\`\n\n</details>`,
    )
    .join('\n\n');
}

const given = (await (await fetch(description)).json()) as Description;
const isAsked = given.components.securitySchemes !== undefined;
const api = new URL(given.servers[0]?.url ?? '', location.href).href.replace(/\/$/, '');
takeCommon(given);
for (const [path, methods] of Object.entries(given.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    joinBounds(operation);
    operation.description += `\n\n${samplesOf(method, path, operation, isAsked, api)}`;
  }
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

const levels = [
  ['h2.title', '1'],
  ['h3', '2'],
  ['h4', '3'],
  ['h5', '4'],
] as const;

/** What the library leaves to be mended for keyboards and screen readers. */
function mend(): void {
  for (const code of document.querySelectorAll('pre:not([tabindex])')) {
    code.setAttribute('tabindex', '0');
  }
  for (const [selector, level] of levels) {
    for (const heading of document.querySelectorAll(`#docs ${selector}:not([aria-level])`)) {
      heading.setAttribute('role', 'heading');
      heading.setAttribute('aria-level', level);
    }
  }
  const about = document.querySelector('#docs .information-container');
  about?.setAttribute('role', 'region');
  about?.setAttribute('aria-label', 'About the API');
  // A link inside of a button, which does the same.
  for (const link of document.querySelectorAll('button a[href]')) link.removeAttribute('href');
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });

SwaggerUIBundle({
  spec: given,
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
});
