/** A command that could not do what it was asked for: one sentence that says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
}
