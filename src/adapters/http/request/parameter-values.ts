import type { Parameter } from '../parameter.ts';

/** What a parameter may be: as a schema, and as the check that is made of it. */
type Values = Pick<Parameter, 'schema' | 'example' | 'check'>;

/** One of some texts. */
export function oneOf(values: readonly string[], fallback?: string): Values {
  const few = values.map((value) => `"${value}"`).join(' or ');
  const sentence = `Must be ${values.length < 3 ? few : `one of ${values.join(', ')}`}.`;
  return {
    schema: {
      type: 'string',
      enum: values,
      ...(fallback !== undefined && { default: fallback }),
    },
    example: values[0] ?? '',
    check: (value) => (values.includes(value) ? undefined : sentence),
  };
}

/** An integer within bounds, in the one way to write it. */
export function integer(minimum: number, maximum: number, fallback: number): Values {
  return {
    schema: { type: 'integer', format: 'int32', minimum, maximum, default: fallback },
    example: fallback,
    check(value) {
      const number = /^(?:0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : Number.NaN;
      const fits = number >= minimum && number <= maximum;
      return fits ? undefined : `Must be an integer from ${minimum} to ${maximum}.`;
    },
  };
}
