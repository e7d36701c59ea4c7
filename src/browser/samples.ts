// Requests of the operations in the reference, in three languages.

import { type Description, type Operation, resolved, type Schema } from './description.ts';

/** The example of a body; where custom fields leave none of the whole, one made of what its fields have. */
function exampleOf({ requestBody }: Operation, description: Description): unknown {
  const [body] = Object.values(requestBody?.content ?? {});
  if (body === undefined || body.example !== undefined) return body?.example;
  const { properties = {}, required = [] } = resolved(body.schema, description);
  const made = Object.entries(properties).flatMap(([name, property]) => {
    const schema = resolved(property, description);
    const [example] = schema.examples ?? (required.includes(name) ? [sampleOf(schema)] : []);
    return example === undefined ? [] : [[name, example] as const];
  });
  return Object.fromEntries(made);
}

const simple: Readonly<Record<string, unknown>> = {
  ...{ string: 'text', integer: 1, number: 1, boolean: true, array: [], object: {} },
};

/** A value of the right type, for a field that has to be there and has no example. */
function sampleOf({ default: usual, enum: choices, type }: Schema): unknown {
  return usual ?? choices?.[0] ?? simple[[type].flat()[0] ?? ''] ?? null;
}

/** A request of an operation in curl, JavaScript and Python, each folded. */
export function samplesOf(
  method: string,
  url: string,
  operation: Operation,
  description: Description,
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
  const json = JSON.stringify(exampleOf(operation, description));
  const verb = method.toUpperCase();
  const curl = [
    `curl ${verb === 'GET' ? '' : `-X ${verb} `}${url}`,
    ...all.map(([name, value]) => `  -H '${name}: ${value}'`),
    ...(isBody ? [`  -d '${json.replaceAll("'", "'\\''")}'`] : []),
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
    // As text: JSON has `null` and `true`, which Python does not; a string of it is one of Python.
    ...(isBody ? [`    data=${JSON.stringify(json)}.encode(),`] : []),
  ];
  const python = `import requests\n\nresponse = requests.${method}(\n${named.join('\n')}\n)\nprint(${pyResult})`;
  const samples = Object.entries({ curl, JavaScript: javascript, Python: python });
  const folded = ([name, text]: [string, string]) =>
    `<details><summary>${name}</summary>\n\n\`\`\`\n${text}\n\`\`\`\n\n</details>`;
  return samples.map(folded).join('\n\n');
}
