/** Callers by the keys of a file. The tokens of an identity provider are loaded when they are set up. */
export { CredentialsError, CredentialsUnavailable } from './errors.ts';
export { addKey, isKeyName, KeyFile, listKeys, revokeKey } from './key-file.ts';
