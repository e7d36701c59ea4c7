/** A response, with its body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON body, or an empty object. */
  readonly body: Body;
}

/** A response read from a socket. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** All members that a body of the API can have. */
export interface Body {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly email: string | null;
  readonly authorId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly users: readonly Body[];
  readonly posts: readonly Body[];
  readonly next: string | null;
  readonly total: number;
  readonly code: string;
  readonly error: string;
  readonly allowed: readonly string[];
  readonly errors: readonly {
    pointer?: string;
    parameter?: string;
    header?: string;
    code: string;
    message: string;
  }[];
  readonly [member: string]: unknown;
}
