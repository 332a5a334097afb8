import { errorCode } from './error-code.ts';
import { ObjectStoreUnavailable } from './object-store-unavailable.ts';

/** Names the SDK gives to errors of the way to the store, not of its answer. */
const NETWORK_ERRORS = new Set(['TimeoutError', 'AbortError', 'CredentialsProviderError']);

/** HTTP status and code of an answer that refused a call; undefined when there was no answer. */
export function s3Refusal(error: unknown): { status: number; code: string } | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const { $metadata } = error;
  if (typeof $metadata !== 'object' || $metadata === null || !('httpStatusCode' in $metadata)) return undefined;
  const status = $metadata.httpStatusCode;
  return typeof status === 'number' ? { status, code: error.name } : undefined;
}

/**
 * An error of the SDK as the port promises it: `ObjectStoreUnavailable` when another try may help, otherwise one that says what was
 * refused. The SDK's own error is its `cause`.
 */
export function s3Error(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || error instanceof ObjectStoreUnavailable) return error;
  const refusal = s3Refusal(error);
  if (refusal !== undefined && refusal.status < 500 && refusal.status !== 429) {
    const { status, code } = refusal;
    return new Error(`the object store refused to ${what}: ${error.message} (${code}, status ${status})`, {
      cause: error,
    });
  }
  if (refusal !== undefined || NETWORK_ERRORS.has(error.name) || errorCode(error) !== undefined) {
    const reason = error.message || errorCode(error) || error.name;
    return new ObjectStoreUnavailable(`the object store cannot ${what} now: ${reason}`, { cause: error });
  }
  return error;
}
