import { quotedString, token, unquoted } from './grammar.ts';

/** A media type and its parameters (RFC 9110, section 8.3.1), names in lower case. */
export interface MediaType {
  readonly type: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

const start = new RegExp(`^(${token}/${token})`);
const parameter = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(${token}|${quotedString})?)?`, 'y');

/** @returns undefined when it is malformed */
export function parseMediaType(header: string): MediaType | undefined {
  const text = header.trim();
  const type = start.exec(text)?.[1];
  if (type === undefined) return undefined;
  const parameters: [string, string][] = [];
  parameter.lastIndex = type.length;
  while (parameter.lastIndex < text.length) {
    const match = parameter.exec(text);
    if (match === null) return undefined;
    const [, name, value = ''] = match;
    if (name !== undefined) parameters.push([name.toLowerCase(), unquoted(value)]);
  }
  return { type: type.toLowerCase(), parameters };
}
