import { ObjectStoreUnavailable } from './object-store-unavailable.ts';
import { s3Error } from './s3-error.ts';

/** Slower uploads than this, in bytes per millisecond, count as hung: 256 KB/s. */
const SLOWEST_UPLOAD = 256;

export type S3CallOptions = {
  /** Ends "the object store refused to …". */
  what: string;
  signal?: AbortSignal | undefined;
  /** Size of the body that is sent. */
  bytes?: number;
};

/**
 * Makes one call of the SDK end: by its answer, by the caller's signal (then with its reason), or by the deadline of `timeoutMs` and the
 * time that an upload may take. Errors come out as `s3Error` says.
 */
export function s3Calls(timeoutMs: number) {
  return async <T>(options: S3CallOptions, send: (http: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> => {
    const { what, signal, bytes = 0 } = options;
    signal?.throwIfAborted();
    const allowedMs = Math.ceil(timeoutMs + bytes / SLOWEST_UPLOAD);
    const deadline = AbortSignal.timeout(allowedMs);
    try {
      return await send({ abortSignal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]) });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (deadline.aborted) {
        throw new ObjectStoreUnavailable(`the object store did not ${what} within ${allowedMs} ms`, { cause: error });
      }
      throw s3Error(error, what);
    }
  };
}

export type S3Call = ReturnType<typeof s3Calls>;
