import { type Readable, Transform } from 'node:stream';
import { ApiError } from '#shared/errors/api-error.ts';

export const mostArchiveBytes = 500 * 1024 * 1024;

/** What clients call a `.tar.gz`. */
const archiveTypes = [
  'application/gzip',
  'application/x-gzip',
  'application/x-tar',
  'application/x-gtar',
  'application/x-compressed-tar',
  'application/octet-stream',
];

/** A body without a type may be one. */
export function isArchiveType(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  return type === undefined || type === '' || archiveTypes.includes(type);
}

/**
 * A body on its way to another service, cut off with `too_large` when it is. It goes through a stream of its own, so that whoever
 * takes it may stop in the middle without ending the connection that the answer has to go back on.
 */
export function limitedUpload(
  body: Readable,
  mostBytes: number,
): { stream: Readable; problem: () => ApiError | undefined } {
  let received = 0;
  let problem: ApiError | undefined;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received > mostBytes) problem = new ApiError('too_large', `The archive is larger than ${mostBytes} bytes.`);
      if (problem === undefined) done(null, chunk);
      else done(problem);
    },
  });
  stream.once('close', () => {
    body.unpipe(stream);
    // What still comes is read and dropped, as HTTP/1.1 wants it.
    body.resume();
  });
  stream.on('error', () => {});
  body.once('error', (error) => stream.destroy(error));
  body.pipe(stream);
  return { stream, problem: () => problem };
}
