import { Conflict, NewerMessage, Unavailable } from '#shared/runtime/failures.ts';
import { withoutKeys } from '#shared/runtime/without-keys.ts';

/** Every error that the public interface returns. `retry` is true if the same request may succeed later without a change. */
export const errorTable = {
  invalid_json: { status: 400, retry: false, sentence: 'The body is not valid JSON.' },
  invalid_request: {
    status: 400,
    retry: false,
    sentence: 'A field or parameter of the request is wrong; see "fields".',
  },
  invalid_project: {
    status: 400,
    retry: false,
    sentence: 'The archive is not a docs project, or breaks a limit or rule.',
  },
  missing_key: { status: 401, retry: false, sentence: 'Send an API key in the header "Authorization: Bearer <key>".' },
  invalid_key: {
    status: 401,
    retry: false,
    sentence: 'The API key is not valid: it is unknown, incomplete or revoked. Check it, or create a new one.',
  },
  expired_key: { status: 401, retry: false, sentence: 'The API key has expired. Create a new one or rotate it.' },
  wrong_key_kind: { status: 403, retry: false, sentence: 'This kind of API key cannot be used for this request.' },
  missing_scope: { status: 403, retry: false, sentence: 'The API key lacks the scope that this request needs.' },
  address_not_allowed: { status: 403, retry: false, sentence: 'The API key may not be used from this address.' },
  exceeds_key: { status: 403, retry: false, sentence: 'A key cannot create a key with more rights than its own.' },
  origin_not_allowed: { status: 403, retry: false, sentence: 'The API key may not be used from this origin.' },
  plan_required: { status: 403, retry: false, sentence: 'Static export needs the enterprise plan.' },
  method_not_allowed: {
    status: 405,
    retry: false,
    sentence: 'This address does not accept the method. See the header "Allow".',
  },
  not_found: { status: 404, retry: false, sentence: 'The organization has nothing with this name or id.' },
  not_completed: {
    status: 409,
    retry: true,
    sentence: 'The job is not completed. Poll its status until it says "completed", then ask again.',
  },
  job_ended: { status: 409, retry: false, sentence: 'The job has ended and cannot be cancelled.' },
  idempotency_conflict: {
    status: 409,
    retry: false,
    sentence: 'This Idempotency-Key was used for another request. Use a new key, or send the same body.',
  },
  in_use: {
    status: 409,
    retry: false,
    sentence: 'It is in use, its name is taken, or the maximum number is reached. The error message says which.',
  },
  contents_missing: {
    status: 409,
    retry: true,
    sentence:
      'The server does not have the bytes of all listed files. Ask which are missing, then send the list with those.',
  },
  too_many_labels: {
    status: 409,
    retry: false,
    sentence: 'The domain has the maximum number of labels. Remove an unused one first.',
  },
  request_timeout: {
    status: 408,
    retry: true,
    sentence: 'The request took too long to arrive. Send it again, over a faster connection.',
  },
  too_large: { status: 413, retry: false, sentence: 'The body is too large.' },
  unsupported_media_type: {
    status: 415,
    retry: false,
    sentence: 'The Content-Type is not supported here. Send JSON as application/json, an archive as application/gzip.',
  },
  rate_limited: { status: 429, retry: true, sentence: 'Too many requests. Wait as long as Retry-After says.' },
  internal: {
    status: 500,
    retry: true,
    sentence: 'Something failed on our side. The request id helps to find the cause.',
  },
  unavailable: {
    status: 503,
    retry: true,
    sentence: 'A system that the request needs is down. The request had no partial effect; try again later.',
  },
} as const;

export type ErrorCode = keyof typeof errorTable;

export const errorCodes = Object.keys(errorTable) as ErrorCode[];

export type FieldProblem = { path: string; message: string };

/** The body of every error response. */
export type ErrorBody = { error: string; code: ErrorCode; requestId: string; fields?: FieldProblem[] };

/** An error that a caller of the public interface may see. Any other error becomes `internal`. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly fields: FieldProblem[] | undefined;
  /** Value of the header `Retry-After`, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  /** `sentence` replaces the sentence of the table with a more specific one. */
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
    const fields = this.fields?.map(({ path, message }) => ({
      path: withoutKeys(path),
      message: withoutKeys(message),
    }));
    return { error: withoutKeys(this.message), code: this.code, requestId, ...(fields ? { fields } : {}) };
  }
}

/** Errors of the HTTP framework, by its error code. */
const frameworkErrors: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_NOT_FOUND: 'not_found',
  // Fastify raises this error for methods that require a content type if the route does not exist.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'not_found',
};

/** The error response for any thrown value. An unexpected one becomes `internal` without details. Pure. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Unavailable)
    return new ApiError('unavailable', undefined, { retryAfterSeconds: 5, cause: error });
  if (error instanceof Conflict) {
    return new ApiError('unavailable', 'Too many changes at once. Try again.', { retryAfterSeconds: 1, cause: error });
  }
  if (error instanceof NewerMessage) {
    const message = 'A newer version of Bindery wrote this, and the update is not complete yet. Try again in a minute.';
    return new ApiError('unavailable', message, { retryAfterSeconds: 60, cause: error });
  }
  const { code } = (error ?? {}) as { code?: unknown };
  const known = typeof code === 'string' ? frameworkErrors[code] : undefined;
  if (known !== undefined) return new ApiError(known, undefined, { cause: error });
  return new ApiError('internal', undefined, { cause: error });
}
