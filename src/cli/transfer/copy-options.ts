import type { Progress } from './progress.ts';

export interface CopyOptions {
  /** Remove what the target has and the source has not; otherwise it is in the way. */
  readonly overwrite: boolean;
  readonly progress: Progress;
  /** Ends the copy between two batches; made again, it goes on from there. */
  readonly signal: AbortSignal;
}
