/** The identity provider is unreachable, and none of its keys is cached. */
export class CredentialsUnavailable extends Error {
  override readonly name = 'CredentialsUnavailable';
  readonly code = 'credentials-unavailable';
}

/** Thrown if credentials cannot be set up. The message says what to do. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}
