/** The rules of records as data, for validation, descriptions and documentation. */

/** A text; its lengths are counted in code points, after trimming where the rule trims. */
export interface TextRule {
  readonly type: 'text';
  /** The value if the field is absent or null. A field without a fallback is required. */
  readonly fallback?: string;
  /** Whether it is stored as `String.prototype.trim` returns it. */
  readonly trim: boolean;
  readonly minLength: number;
  readonly maxLength: number;
  /**
   * Whether it needs a visible character, which is not white space and not a control, format,
   * default-ignorable or combining character.
   */
  readonly visible: boolean;
  /** Whether control characters are allowed (Unicode's category Cc: tabs and line breaks too). */
  readonly controls: boolean;
}

/** An email address, or null: HTML's grammar, with the letters and digits of every script. Stored trimmed. */
export interface EmailRule {
  readonly type: 'email';
  readonly fallback: null;
  /** Bytes of UTF-8 (RFC 5321, section 4.5.3.1.3, less its angle brackets). */
  readonly maxBytes: number;
}

export interface ReferenceRule {
  readonly type: 'reference';
  readonly to: 'user';
  readonly fallback: null;
}

/**
 * An instant, or null: RFC 3339 with any offset, stored to the millisecond. If it is absent, a new record
 * gets the time of its creation, and a replaced record keeps its value.
 */
export interface InstantRule {
  readonly type: 'instant';
  readonly fallback: null;
}

export type FieldRule = TextRule | EmailRule | ReferenceRule | InstantRule;
export type FieldRules = Readonly<Record<string, FieldRule>>;

/** A boolean, or any number that a record can have (I-JSON, RFC 7493, section 2.2). */
export interface ScalarRule {
  readonly type: 'number' | 'boolean';
}

/** A list of texts. Duplicates stay in the record, and filters count them once. */
export interface TextListRule {
  readonly type: 'text[]';
  readonly maxItems: number;
  readonly items: TextRule;
}

/** The rule of a declared field, whose value can also be null or absent. */
export type DeclaredRule = TextRule | ScalarRule | TextListRule;

const singleLine = {
  type: 'text',
  trim: true,
  minLength: 1,
  visible: true,
  controls: false,
} as const;

/** Any text up to a length that a rule adds. */
const anyText = {
  type: 'text',
  trim: false,
  minLength: 0,
  visible: false,
  controls: true,
} as const;

export const userRules = {
  name: { ...singleLine, maxLength: 200 },
  email: { type: 'email', fallback: null, maxBytes: 254 },
} as const satisfies FieldRules;

export const postRules = {
  title: { ...singleLine, maxLength: 300 },
  body: { ...anyText, fallback: '', maxLength: 500_000 },
  authorId: { type: 'reference', to: 'user', fallback: null },
  publishedAt: { type: 'instant', fallback: null },
} as const satisfies FieldRules;

/**
 * The rules of declared fields, by type. Every store has an index on them, so texts are short. Put a longer
 * text into a field that is not declared.
 */
export const declaredRules = {
  text: { ...anyText, maxLength: 1000 },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  'text[]': { type: 'text[]', maxItems: 64, items: { ...anyText, maxLength: 200 } },
} as const satisfies Record<string, DeclaredRule>;

/** The fields that the server makes. Values sent by a client are not stored. */
export const serverMade = ['id', 'createdAt', 'updatedAt'] as const;

/** The rules of the known fields, by collection. All other fields are custom fields. */
export const rules = { users: userRules, posts: postRules } as const;
export const knownFields: Readonly<Record<keyof typeof rules, readonly string[]>> = {
  users: [...serverMade, ...Object.keys(userRules)],
  posts: [...serverMade, ...Object.keys(postRules)],
};

/** The limits of every record. */
export const recordLimits = {
  /** Levels of objects and arrays; the record itself is the first. */
  depth: 16,
  /** Code points of a key, at any depth. */
  keyLength: 64,
  /** Members of objects and elements of arrays, at any depth. With 350,000, a change takes 0.3 s of the event loop. */
  values: 50_000,
  /** Bytes of the client's part of a record, as compact JSON in UTF-8. */
  bytes: 1_048_576,
  /** Bytes around a record on its way: what a response adds (id, times and fallbacks: 160), or a message's other parts. */
  addedBytes: 1024,
} as const;
