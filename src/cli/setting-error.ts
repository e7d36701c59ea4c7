/** A setting that cannot be: one sentence that names it, what it was, and what to do. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}
