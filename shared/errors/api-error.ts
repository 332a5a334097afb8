import { type ErrorCode, errorTable } from './error-table.ts';

export type FieldProblem = { path: string; message: string };

/** The body of every error answer. */
export type ErrorBody = { error: string; code: ErrorCode; requestId: string; fields?: FieldProblem[] };

/** An error that a caller of the public interface may see. Anything else that is thrown is answered as `internal`. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly fields: FieldProblem[] | undefined;
  /** Seconds, for `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  /** `sentence` replaces the table's where more can be said. */
  constructor(
    code: ErrorCode,
    sentence?: string,
    details: { fields?: FieldProblem[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(sentence ?? errorTable[code].sentence, { cause: details.cause });
    this.code = code;
    this.fields = details.fields;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  toBody(requestId: string): ErrorBody {
    return { error: this.message, code: this.code, requestId, ...(this.fields ? { fields: this.fields } : {}) };
  }
}
