import { create as contentDisposition } from 'content-disposition';
import type { FastifyRequest } from 'fastify';
import { byteRange } from '#shared/http/byte-range.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { ApiError } from '#shared/http/errors.ts';
import { verifyFolderLink } from '#shared/storage/download-link.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute } from '../public-route.ts';

/** Downloads by signed link, if the object store is a folder. The link is the only credential. */
export const signedDownloadRoutes = [
  publicRoute(
    {
      id: 'download',
      method: 'GET',
      path: '/_objects/*',
      summary: 'Downloads the file of a signed link.',
      key: 'none',
      errors: ['not_found'],
      answersHead: true,
      undocumented: true,
    },
    async (context, { request, reply }) => {
      const link = verifiedLink(context, request);
      const signal = disconnectSignal(reply.raw);
      const head = await context.objectStore.head(link.key, { signal });
      if (head === undefined) throw new ApiError('not_found', 'The file of this link no longer exists.');
      const range = byteRange(request.headers.range, head.sizeBytes);
      reply.headers({
        'content-type': link.contentType,
        'content-disposition': contentDisposition(link.fileName),
        'accept-ranges': 'bytes',
        'last-modified': head.modifiedAt.toUTCString(),
        'cache-control': 'private, no-store',
        // A browser that shows the file, whatever its type, must not run it or guess another type.
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        ...(head.metadata.sha256 === undefined ? {} : { etag: `"${head.metadata.sha256}"` }),
        ...Object.fromEntries(Object.entries(head.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
      });
      if (range === 'unsatisfiable') {
        // This answers a client that resumes a complete download, so it is not an error.
        return reply.code(416).header('content-range', `bytes */${head.sizeBytes}`).send();
      }
      const { start, end } = range ?? { start: 0, end: head.sizeBytes - 1 };
      if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${head.sizeBytes}`);
      reply.header('content-length', String(end - start + 1));
      if (request.method === 'HEAD' || head.sizeBytes === 0) return reply.send();
      const body = await context.objectStore.getStream(link.key, { range: { start, end }, signal });
      if (body === undefined) throw new ApiError('not_found', 'The file of this link no longer exists.');
      return reply.send(body);
    },
  ),
];

function verifiedLink({ config, clock }: GatewayContext, request: FastifyRequest) {
  const signingKey = config.objectStore === 'folder' ? config.linkSigningKey : undefined;
  if (signingKey === undefined) throw new ApiError('not_found', 'Downloads are not served here.');
  const link = verifyFolderLink(request.url, signingKey, clock.now());
  if (link === 'expired') {
    throw new ApiError('not_found', 'This link has expired. Ask for a fresh one with POST …/jobs/{jobId}/bundle.');
  }
  if (link === 'invalid')
    throw new ApiError('not_found', 'This is not a link that was signed here, or a part of it is missing.');
  return link;
}
