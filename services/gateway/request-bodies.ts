import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { detachedBody } from '#shared/http/client-connection.ts';
import { ApiError } from '#shared/http/errors.ts';
import { checkJsonShape } from '#shared/http/json-shape.ts';

/** The kind of body of a route: JSON that is checked here; JSON whose bytes are passed on to another service, which checks them; or a `.tar.gz` as a stream. */
export type BodyKind = z.ZodType | { passedOn: z.ZodType } | 'archive';

/** Adds the parser for the bodies of a route. Without a kind, the body that some clients send by default is dropped. */
export function addBodyParser(scope: FastifyInstance, kind: BodyKind | undefined): void {
  const parseJson = scope.getDefaultJsonParser('error', 'error');
  scope.removeAllContentTypeParsers();
  if (kind === undefined) {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async () => undefined);
  } else if (kind === 'archive') {
    scope.addContentTypeParser('*', (request, payload, done) => {
      if (isArchiveType(request.headers['content-type'])) done(null, payload);
      else done(new ApiError('unsupported_media_type', wantedArchive));
    });
  } else if (kind instanceof z.ZodType) {
    scope.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
      // Clients send the content type with requests that have no body.
      if (body === '') {
        done(null, undefined);
        return;
      }
      checkJsonShape(body);
      void parseJson(request, body, done);
    });
  } else {
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => {
      checkJsonShape(body);
      return body;
    });
  }
}

const wantedArchive = 'Send the docs project as a .tar.gz with Content-Type: application/gzip.';

const mostArchiveBytes = 500 * 1024 * 1024;

/** Media types that clients use for a `.tar.gz`. */
const archiveTypes = new Set([
  'application/gzip',
  'application/x-gzip',
  'application/x-tar',
  'application/x-gtar',
  'application/x-compressed-tar',
  'application/octet-stream',
]);

/** True for media types of archives, and without a media type, because such a body may be an archive. */
function isArchiveType(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  return type === undefined || type === '' || archiveTypes.has(type);
}

/** Throws if the headers of an upload show that it is empty or too large. */
export function checkArchive({ body, headers }: FastifyRequest): void {
  if (body === undefined || headers['content-length'] === '0') {
    throw new ApiError('invalid_project', 'The body is empty. Send the docs project as a .tar.gz.');
  }
  if (Number(headers['content-length'] ?? 0) > mostArchiveBytes) throw new ApiError('too_large');
}

/** An upload that is passed on, cut off with `too_large` at the limit. `problem` returns the error afterwards. */
export function limitedUpload(body: Readable): { stream: Readable; problem: () => ApiError | undefined } {
  let received = 0;
  let problem: ApiError | undefined;
  const stream = detachedBody(body, (chunk) => {
    received += chunk.length;
    if (received <= mostArchiveBytes) return;
    problem = new ApiError('too_large', `The archive is larger than ${mostArchiveBytes} bytes.`);
    throw problem;
  });
  return { stream, problem: () => problem };
}
