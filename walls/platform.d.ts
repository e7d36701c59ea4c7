// What the core may use of the platform: it is in every browser, worker and runtime.
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

declare function setTimeout(callback: () => void, ms: number): number;
declare function clearTimeout(timer: number | undefined): void;

declare const crypto: {
  readonly subtle: { digest(algorithm: 'SHA-256', data: Uint8Array): Promise<ArrayBuffer> };
};

declare class TextEncoder {
  encode(text: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { readonly read: number; readonly written: number };
}

declare class URL {
  static canParse(url: string): boolean;
  static parse(url: string): URL | null;
  constructor(url: string);
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly hostname: string;
  readonly search: string;
  readonly hash: string;
  readonly origin: string;
}
