// What the core may use of the platform: it is in every browser, worker and runtime.
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
}
