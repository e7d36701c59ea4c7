/** A part whose packages are not installed. The message is one sentence that says which to. */
export class MissingPeerError extends Error {
  override readonly name = 'MissingPeerError';
}

/**
 * Loads the packages of a part. They are optional peers of this package: who imports a part that
 * needs them is told in one sentence what to install.
 *
 * For a top-level await: a static import would fail before any of our code runs.
 */
export async function loadPeers<M>(
  part: string,
  packages: string,
  load: () => Promise<M>,
): Promise<M> {
  try {
    return await load();
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code;
    if (missing !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const reason = `${part} needs packages that are not installed: run \`npm i ${packages}\`.`;
    throw new MissingPeerError(reason, { cause });
  }
}
