// Requests of the operations in the reference, in three languages.

/** What a sample needs of an operation. */
export interface Sampled {
  readonly requestBody?: { readonly content: Readonly<Record<string, Body>> };
}

interface Body {
  readonly example?: unknown;
  readonly schema: { readonly $ref: string };
}

/** Schemas by their names. */
export type Schemas = Record<string, { readonly properties?: Properties }>;
type Properties = Readonly<Record<string, { readonly examples?: readonly unknown[] }>>;

export const nameOf = (reference: string) => decodeURIComponent(reference.split('/').at(-1) ?? '');

/** The example of a body: where custom fields leave none of the whole, what its fields have. */
function exampleOf({ requestBody }: Sampled, schemas: Schemas): unknown {
  const [body] = Object.values(requestBody?.content ?? {});
  if (body === undefined || body.example !== undefined) return body?.example;
  const fields = Object.entries(schemas[nameOf(body.schema.$ref)]?.properties ?? {});
  const known = fields.flatMap(([name, { examples }]) => (examples ? [[name, examples[0]]] : []));
  return Object.fromEntries(known);
}

/** A request of an operation in curl, JavaScript and Python, each folded. */
export function samplesOf(
  method: string,
  url: string,
  operation: Sampled,
  schemas: Schemas,
  isAsked: boolean,
): string {
  const isBody = operation.requestBody !== undefined;
  const headers: Record<string, string> = {
    ...(isAsked && { Authorization: 'Bearer KEY' }),
    ...(isBody && { 'Content-Type': 'application/json' }),
    ...(method === 'post' && { 'Idempotency-Key': '3f2a9c5e-order-17' }),
    ...(['put', 'patch', 'delete'].includes(method) && { 'If-Match': '"1"' }),
  };
  const all = Object.entries(headers);
  const json = JSON.stringify(exampleOf(operation, schemas));
  const verb = method.toUpperCase();
  const curl = [
    `curl ${verb === 'GET' ? '' : `-X ${verb} `}${url}`,
    ...all.map(([name, value]) => `  -H '${name}: ${value}'`),
    ...(isBody ? [`  -d '${json}'`] : []),
  ].join(' \\\n');
  const init = [
    ...(verb === 'GET' ? [] : [`  method: '${verb}',`]),
    ...(all.length > 0 ? [`  headers: ${JSON.stringify(headers)},`] : []),
    ...(isBody ? [`  body: JSON.stringify(${json}),`] : []),
  ];
  const options = init.length > 0 ? `, {\n${init.join('\n')}\n}` : '';
  // The response to a deletion has no body.
  const [jsResult, pyResult] =
    method === 'delete'
      ? ['response.status', 'response.status_code']
      : ['await response.json()', 'response.json()'];
  const javascript = `const response = await fetch('${url}'${options});\nconsole.log(${jsResult});`;
  const named = [
    `    '${url}',`,
    ...(all.length > 0 ? [`    headers=${JSON.stringify(headers)},`] : []),
    // As text: JSON has `null` and `true`, which Python does not.
    ...(isBody ? [`    data='${json}',`] : []),
  ];
  const python = `import requests\n\nresponse = requests.${method}(\n${named.join('\n')}\n)\nprint(${pyResult})`;
  const samples = Object.entries({ curl, JavaScript: javascript, Python: python });
  const folded = ([name, text]: [string, string]) =>
    `<details><summary>${name}</summary>\n\n\`\`\`\n${text}\n\`\`\`\n\n</details>`;
  return samples.map(folded).join('\n\n');
}
