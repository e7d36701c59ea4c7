// What the core may use of the platform: it is in every browser, worker and runtime.
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
}

declare const crypto: {
  readonly subtle: { digest(algorithm: 'SHA-256', data: Uint8Array): Promise<ArrayBuffer> };
};

declare class TextEncoder {
  encode(text: string): Uint8Array;
}
