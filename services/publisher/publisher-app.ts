import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { deleteContent, promoteContent } from '#shared/aggregates/content/decide.ts';
import { contentRevisionHeader } from '#shared/contracts/http/content.ts';
import { contentLabel, contentVersion as contentVersionSchema } from '#shared/contracts/identifiers.ts';
import { detachedBody } from '#shared/http/detached-body.ts';
import { internalApp, readCaller } from '#shared/http/internal-server.ts';
import type { ReadinessChecks } from '#shared/runtime/health-server.ts';
import { appendContent } from './append-content.ts';
import { type PublisherParts, publishProject } from './publish-project.ts';

type VersionParams = { Params: { contentVersion: string } };
type PublishRequest = { Querystring: { label?: string }; Body: IncomingMessage };

/** The publisher's HTTP server: what the gateway asks of a domain's content. */
export function publisherApp(
  parts: PublisherParts,
  options: { serviceToken: string; logger: Logger; checks: ReadinessChecks; draining: () => boolean },
): FastifyInstance {
  const app = internalApp({ service: 'publisher', ...options });
  app.removeAllContentTypeParsers();
  // The stream itself: an upload is unpacked as it arrives.
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

  app.put<PublishRequest>('/internal/content', async (request, reply) => {
    const caller = readCaller(request.headers);
    const label = contentLabel.optional().parse(request.query.label);
    const { answer, revision } = await publishProject(parts, caller, detachedBody(request.body), label, gone(reply));
    return reply.header(contentRevisionHeader, String(revision)).send(answer);
  });

  app.post<VersionParams>('/internal/content/:contentVersion/promote', async (request, reply) => {
    const caller = readCaller(request.headers);
    const contentVersion = contentVersionSchema.parse(request.params.contentVersion);
    const { organization, domain } = caller;
    const { revision } = await appendContent(parts, caller, (state) =>
      promoteContent(state, { organization, domain, contentVersion }),
    );
    return reply.header(contentRevisionHeader, String(revision)).send({});
  });

  app.delete<VersionParams>('/internal/content/:contentVersion', async (request, reply) => {
    const caller = readCaller(request.headers);
    const contentVersion = contentVersionSchema.parse(request.params.contentVersion);
    const { organization, domain } = caller;
    const { revision } = await appendContent(parts, caller, (state) =>
      deleteContent(state, { organization, domain, contentVersion }),
    );
    return reply.header(contentRevisionHeader, String(revision)).send({});
  });

  return app;
}

/** Aborts when the gateway hangs up: it does when its client does. */
function gone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new Error('The upload was given up.'));
  });
  return controller.signal;
}
