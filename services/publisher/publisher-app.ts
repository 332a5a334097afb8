import type { FastifyInstance } from 'fastify';
import { deleteContent, promoteContent } from '#shared/aggregates/content/decide.ts';
import { publisher } from '#shared/contracts/internal/publisher.ts';
import { answerCall, internalApp, type InternalServerOptions } from '#shared/http/internal-server.ts';
import { appendContent } from './append-content.ts';
import { type PublisherParts, publishProject } from './publish-project.ts';

/** The publisher's HTTP server: what others ask of a domain's content. */
export function publisherApp(parts: PublisherParts, options: InternalServerOptions): FastifyInstance {
  const app = internalApp('publisher', options);

  answerCall(app, publisher.publishContent, async ({ caller, body, query, signal }) => {
    const { answer, revision } = await publishProject(parts, caller, body, query.label, signal);
    return { body: answer, headers: { 'x-bindery-content-revision': revision } };
  });

  for (const [call, decide] of [
    [publisher.promoteContent, promoteContent],
    [publisher.deleteContent, deleteContent],
  ] as const) {
    answerCall(app, call, async ({ caller, params: { contentVersion } }) => {
      const { organization, domain } = caller;
      const { revision } = await appendContent(parts, caller, (state) =>
        decide(state, { organization, domain, contentVersion }),
      );
      return { body: {}, headers: { 'x-bindery-content-revision': revision } };
    });
  }
  return app;
}
