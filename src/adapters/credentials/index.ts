/** Authenticates callers by the keys of a file. Tokens of an identity provider are in a module of their own. */
export { CredentialsError, CredentialsUnavailable } from './errors.ts';
export { addKey, isKeyName, KeyFile, listKeys, revokeKey } from './key-file.ts';
