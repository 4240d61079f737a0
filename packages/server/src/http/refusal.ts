import { type ErrorCode, type ErrorDetail, errorCatalog } from "@bursar/protocol";

export interface RefusalOptions {
  /** Replaces the catalog's message. */
  message?: string;
  details?: readonly ErrorDetail[];
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** Ends a request with an error of the catalog. The error handler turns it into a response. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, { message, details, headers, cause }: RefusalOptions = {}) {
    super(message ?? errorCatalog[code].message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.headers = headers ?? {};
  }
}
