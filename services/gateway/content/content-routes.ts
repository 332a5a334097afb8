import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { admissionOf, admitByKey, resolveDomain } from '#services/gateway/auth/admission.ts';
import { publishQuerySchema, toContentList } from '#shared/contracts/http/content.ts';
import { contentVersion as contentVersionSchema } from '#shared/contracts/identifiers.ts';
import { contentsKey } from '#shared/contracts/read-models.ts';
import { publisher } from '#shared/contracts/internal/publisher.ts';
import { detachedBody } from '#shared/http/client-connection.ts';
import { ApiError } from '#shared/http/errors.ts';
import { askBus, waitForRevision } from '../ask-bus.ts';
import { askService } from '../ask-service.ts';
import type { GatewayContext } from '../context.ts';
import { countRequest, hourSeconds } from '../count-request.ts';
import { parseInput } from '../parse-input.ts';

type ContentParams = { Params: { domain: string; contentVersion: string } };

/** Publication of docs projects, and what has been published. */
export async function contentRoutes(app: FastifyInstance, context: GatewayContext): Promise<void> {
  app.addHook('onRequest', admitByKey(context, { kinds: ['admin'], scope: 'method' }));
  app.removeAllContentTypeParsers();
  // The stream itself: nothing of an archive is held here.
  app.addContentTypeParser('*', (request, payload, done) => {
    if (isArchiveType(request.headers['content-type'])) done(null, payload);
    else
      done(
        new ApiError(
          'unsupported_media_type',
          'Send the docs project as a .tar.gz with Content-Type: application/gzip.',
        ),
      );
  });

  app.get<ContentParams>('/v1/domains/:domain/content', async (request) => {
    const { organization, domains } = admissionOf(request);
    const { slug } = resolveDomain(domains, request.params.domain);
    const stored = await askBus(context.bus.readModels.directoryContents.get(contentsKey(organization, slug)));
    return toContentList(slug, stored?.document.state);
  });

  app.put<ContentParams & { Body: IncomingMessage | undefined }>(
    '/v1/domains/:domain/content',
    async (request, reply) => {
      const { organization, organizationPlan, domains } = admissionOf(request);
      const domain = resolveDomain(domains, request.params.domain);
      const { version } = parseInput(publishQuerySchema, request.query, 'query');
      if (request.body === undefined || request.headers['content-length'] === '0') {
        throw new ApiError('invalid_project', 'The body is empty. Send the docs project as a .tar.gz.');
      }
      if (Number(request.headers['content-length'] ?? 0) > mostArchiveBytes) throw new ApiError('too_large');
      const limit = {
        name: 'publications',
        requests: context.config.publicationsPerHour[organizationPlan],
        windowSeconds: hourSeconds,
      };
      await countRequest(context, reply, [{ limit, key: organization }]);
      const upload = limitedUpload(request.body, mostArchiveBytes);
      const answer = await askService(context, { request, reply, domain }, publisher.publishContent, {
        query: { label: version },
        body: upload.stream,
      }).catch((error: unknown) => {
        throw upload.problem() ?? error;
      });
      const published = await answer.json();
      await contentWhenVisible(answer.headers, organization, domain.slug);
      return published;
    },
  );

  app.post<ContentParams>('/v1/domains/:domain/content/:contentVersion/promote', async (request, reply) => {
    const { organization, domains } = admissionOf(request);
    const domain = resolveDomain(domains, request.params.domain);
    const params = { contentVersion: existing(request.params.contentVersion) };
    const answer = await askService(context, { request, reply, domain }, publisher.promoteContent, { params });
    answer.body.resume();
    return toContentList(domain.slug, (await contentWhenVisible(answer.headers, organization, domain.slug)).state);
  });

  app.delete<ContentParams>('/v1/domains/:domain/content/:contentVersion', async (request, reply) => {
    const { organization, domains } = admissionOf(request);
    const domain = resolveDomain(domains, request.params.domain);
    const params = { contentVersion: existing(request.params.contentVersion) };
    const answer = await askService(context, { request, reply, domain }, publisher.deleteContent, { params });
    answer.body.resume();
    await contentWhenVisible(answer.headers, organization, domain.slug);
    return reply.code(204).send();
  });

  async function contentWhenVisible(
    headers: { 'x-bindery-content-revision': number },
    organization: string,
    domain: string,
  ) {
    const store = context.bus.readModels.directoryContents;
    return await waitForRevision(store, contentsKey(organization, domain), headers['x-bindery-content-revision']);
  }
}

/** A text that cannot be a content version names nothing. */
function existing(text: string): string {
  if (contentVersionSchema.safeParse(text).success) return text;
  throw new ApiError('not_found', `There is no content version "${text.slice(0, 100)}" in this domain.`);
}

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
