import type { Readable } from 'node:stream';
import { ApiError } from '#shared/errors/api-error.ts';
import { detachedBody } from '#shared/internal-http/detached-body.ts';

export const mostArchiveBytes = 500 * 1024 * 1024;

/** What clients call a `.tar.gz`. */
const archiveTypes = new Set([
  'application/gzip',
  'application/x-gzip',
  'application/x-tar',
  'application/x-gtar',
  'application/x-compressed-tar',
  'application/octet-stream',
]);

/** A body without a type may be one. */
export function isArchiveType(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  return type === undefined || type === '' || archiveTypes.has(type);
}

/** A body on its way to another service, cut off with `too_large` when it is. `problem` says so afterwards. */
export function limitedUpload(
  body: Readable,
  mostBytes: number,
): { stream: Readable; problem: () => ApiError | undefined } {
  let received = 0;
  let problem: ApiError | undefined;
  const stream = detachedBody(body, (chunk) => {
    received += chunk.length;
    if (received <= mostBytes) return;
    problem = new ApiError('too_large', `The archive is larger than ${mostBytes} bytes.`);
    throw problem;
  });
  return { stream, problem: () => problem };
}
