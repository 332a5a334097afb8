import { Readable } from 'node:stream';
import { CreateBucketCommand, S3Client, type S3ClientConfig, S3ServiceException } from '@aws-sdk/client-s3';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import { ObjectStoreUnavailable } from './object-store.ts';

export type S3ObjectStoreSettings = {
  bucket: string;
  region: string;
  /** Address of the S3 API for services. If absent, AWS. */
  endpoint?: string | undefined;
  /** Address in links, if clients reach the store under another one: the signature covers the host name. */
  publicEndpoint?: string | undefined;
  /** Bucket in the path instead of the host name, as most stores other than AWS need it. */
  forcePathStyle?: boolean;
  /** If absent, the SDK finds them (environment, web identity, instance). Links end with credentials that expire. */
  credentials?: S3ClientConfig['credentials'];
  /** Timeout of an answer of the store, 10 seconds by default. Uploads get more, depending on their size. */
  timeoutMs?: number;
  clock?: Clock;
};

export const defaultTimeoutMs = 10_000;

/** Settings of an SDK client for the store under the given address. */
export function s3ClientConfig(settings: S3ObjectStoreSettings, endpoint: string | undefined): S3ClientConfig {
  return {
    region: settings.region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(settings.credentials === undefined ? {} : { credentials: settings.credentials }),
    forcePathStyle: settings.forcePathStyle ?? false,
    // Some stores refuse checksums that the SDK adds by default. We request the ones that we want.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: Math.min(2000, settings.timeoutMs ?? defaultTimeoutMs) },
  };
}

/** Maximum size of an answer other than an object. A page of a list has 1,000 keys of at most 900 bytes. */
const mostAnswerBytes = 8 * 1024 * 1024;

/** Limits the answers that the SDK collects in memory, so that an endless one cannot fill it. Objects are not limited: they are read as streams. */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.addRelativeTo(
    <A, R extends { response: unknown }>(next: (args: A) => Promise<R>, { commandName }: { commandName?: string }) =>
      async (args: A) => {
        const result = await next(args);
        const response = result.response as { statusCode?: number; body?: unknown };
        const isObject = commandName === 'GetObjectCommand' && (response.statusCode ?? 0) < 300;
        if (!isObject && response.body instanceof Readable) response.body = Readable.from(cut(response.body));
        return result;
      },
    { name: 'boundAnswers', relation: 'after', toMiddleware: 'deserializerMiddleware' },
  );
}

async function* cut(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > mostAnswerBytes)
      throw new ObjectStoreUnavailable(`the object store sent an answer of more than ${mostAnswerBytes} bytes`);
    yield piece;
  }
}

/** Slowest acceptable upload. Slower ones count as hung. */
const slowestBytesPerMs = 256;

export type S3CallOptions = {
  /** Completes "the object store refused to …". */
  what: string;
  signal?: AbortSignal | undefined;
  /** Size of the body that is sent. */
  bytes?: number;
};

/**
 * Makes every call of the SDK end: with its answer, with the reason of the caller's signal, or at a deadline of `timeoutMs` plus the time
 * that the upload may take. Rejects with the errors of `s3Error`.
 */
export function s3Calls(timeoutMs: number) {
  return async <T>(options: S3CallOptions, send: (http: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> => {
    const { what, signal, bytes = 0 } = options;
    signal?.throwIfAborted();
    const allowedMs = Math.ceil(timeoutMs + bytes / slowestBytesPerMs);
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

/** Names of SDK errors on the way to the store, before there is an answer. */
const networkErrors = new Set(['TimeoutError', 'AbortError', 'CredentialsProviderError']);

/** HTTP status and code of the answer that refused a call, from the SDK's error or our error around it; undefined when there was none. */
export function s3Refusal(error: unknown): { status: number; code: string } | undefined {
  if (!(error instanceof S3ServiceException)) return error instanceof Error ? s3Refusal(error.cause) : undefined;
  const status = error.$metadata.httpStatusCode;
  return status === undefined ? undefined : { status, code: error.name };
}

/**
 * Converts an error of the SDK to one of the port: `ObjectStoreUnavailable` when another try may help, otherwise an error that names the
 * refused call. The SDK's own error is its `cause`.
 */
export function s3Error(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || error instanceof ObjectStoreUnavailable) return error;
  const refusal = s3Refusal(error);
  if (refusal !== undefined && refusal.status < 500 && refusal.status !== 429) {
    return new Error(`the object store refused to ${what}: ${answerOf(error, refusal)}`, { cause: error });
  }
  if (refusal !== undefined || networkErrors.has(error.name) || errorCode(error) !== undefined) {
    const reason = refusal === undefined ? connectionProblem(error) : error.message || error.name;
    return new ObjectStoreUnavailable(`the object store cannot ${what} now: ${reason.slice(0, mostSaid)}`, {
      cause: error,
    });
  }
  // The SDK adds the answer to an error that it makes while it reads one.
  if ('$response' in error) {
    const status = (error.$response as { statusCode?: number } | undefined)?.statusCode;
    return new ObjectStoreUnavailable(
      `the object store did not ${what}: its answer${status === undefined ? '' : ` (status ${status})`} cannot be read. A proxy in between may have answered.`,
      { cause: error },
    );
  }
  return error;
}

/** Limit of a store's explanation, in characters. */
const mostSaid = 500;

/** The store's explanation. An answer without a body has only a status, and the SDK names it unknown. */
function answerOf(error: Error, { status, code }: { status: number; code: string }): string {
  const said = [error.message.slice(0, mostSaid), code.slice(0, mostSaid)].filter(
    (each) => !['', 'UnknownError', 'Unknown'].includes(each),
  );
  return said.length === 2 ? `${said[0]} (${code}, status ${status})` : [...said, `status ${status}`].join(', ');
}

/** Advice about an error of the store during setup, as a sentence. Pure. */
export function s3Advice(error: unknown): string {
  const { status } = s3Refusal(error) ?? {};
  if (status === 401 || status === 403)
    return 'Set BINDERY_S3_ACCESS_KEY_ID and BINDERY_S3_SECRET_ACCESS_KEY to a key that may use this bucket.';
  if (status === 404)
    return 'Run "bindery provision", which makes the bucket, or set BINDERY_S3_BUCKET to an existing one.';
  if (status === 301 || status === 400) return 'Set BINDERY_S3_REGION to the region of the bucket.';
  return 'Start it, or set BINDERY_S3_ENDPOINT to its address: http://<host>:<port>, or https:// with TLS.';
}

/** Creates the bucket of these settings unless it exists. Rejects when it belongs to another account. */
export async function createS3Bucket(settings: S3ObjectStoreSettings): Promise<void> {
  const client = new S3Client(s3ClientConfig(settings, settings.endpoint));
  const call = s3Calls(settings.timeoutMs ?? defaultTimeoutMs);
  const command = new CreateBucketCommand({ Bucket: settings.bucket });
  try {
    await call({ what: `create the bucket ${settings.bucket}` }, (http) => client.send(command, http));
  } catch (error) {
    if (s3Refusal(error)?.code !== 'BucketAlreadyOwnedByYou') throw error;
  } finally {
    client.destroy();
  }
}
