import { ZodError } from 'zod';
import { ApiError } from './api-error.ts';
import type { ErrorCode } from './error-table.ts';

/** What the HTTP framework refuses on its own, by its error code. */
const frameworkErrors: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_NOT_FOUND: 'not_found',
};

/** Errors by which ports say that a system is away, by name, so that this file needs none of them. */
const awayErrors = new Set(['ObjectStoreUnavailable', 'ServiceUnavailable', 'SearchUnavailable', 'BusUnavailable']);

/** How anything that was thrown is answered. What nobody foresaw is `internal` and says nothing else. Pure. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof ZodError) return invalidRequest(error);
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  const known = typeof code === 'string' ? frameworkErrors[code] : undefined;
  if (known !== undefined) return new ApiError(known, undefined, { cause: error });
  if (typeof name === 'string' && awayErrors.has(name)) {
    return new ApiError('unavailable', undefined, { retryAfterSeconds: 5, cause: error });
  }
  return new ApiError('internal', undefined, { cause: error });
}

/** `invalid_request` with each wrong field and why; `root` names the value itself. */
export function invalidRequest(error: ZodError, root = 'body'): ApiError {
  const fields = error.issues.slice(0, 20).map((issue) => ({
    path: issue.path.length === 0 ? root : issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = fields[0];
  return new ApiError(
    'invalid_request',
    first === undefined ? undefined : `The field "${first.path}" is wrong: ${first.message}.`,
    { fields, cause: error },
  );
}
