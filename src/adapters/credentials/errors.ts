/** The identity provider cannot be reached, and none of its keys is known. */
export class CredentialsUnavailable extends Error {
  override readonly name = 'CredentialsUnavailable';
  readonly code = 'credentials-unavailable';
}

/** Credentials that cannot be set up. The message is one sentence that says what to do. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}
