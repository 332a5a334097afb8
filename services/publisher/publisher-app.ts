import type { FastifyInstance } from 'fastify';
import { deleteContent, promoteContent, removeLabel } from '#shared/aggregates/content/decide.ts';
import { sourceIn } from '#shared/contracts/publication-source.ts';
import { publisher } from '#shared/interfaces/internal/publisher.ts';
import { answerCall, internalApp, type InternalServerOptions } from '#shared/interfaces/internal/internal-server.ts';
import { readContent } from './read-content.ts';
import { appendContent, missingContents, type PublisherContext, publishProject } from './publish-project.ts';

/** The publisher's HTTP server, for changes to a domain's content. */
export function publisherApp(context: PublisherContext, options: InternalServerOptions): FastifyInstance {
  const app = internalApp('publisher', options);

  for (const [call, sends, labelOnly] of [
    [publisher.publishContent, 'all files', false],
    [publisher.publishChanges, 'changed files', false],
    [publisher.publishPreview, 'all files', true],
    [publisher.publishPreviewChanges, 'changed files', true],
  ] as const) {
    answerCall(app, call, async ({ caller, body, query: { label, ...query }, signal }) => {
      const options = { label, labelOnly, sends, source: sourceIn(query) };
      const { answer, revision } = await publishProject(context, caller, body, options, signal);
      return { body: answer, headers: { 'x-bindery-content-revision': revision } };
    });
  }

  answerCall(app, publisher.missingContents, async ({ caller, body, signal }) => ({
    body: await missingContents(context, caller, body, signal),
  }));

  for (const [call, decide] of [
    [publisher.promoteContent, promoteContent],
    [publisher.deleteContent, deleteContent],
  ] as const) {
    answerCall(app, call, async ({ caller, params: { contentVersion } }) => {
      const { organization, domain } = caller;
      const { revision } = await appendContent(context, caller, (state) =>
        decide(state, { organization, domain, contentVersion }),
      );
      return { body: {}, headers: { 'x-bindery-content-revision': revision } };
    });
  }
  const content = readContent(context);
  answerCall(app, publisher.contentChanges, async ({ caller, params, body, signal }) => ({
    body: await content.changes({ ...caller, ...params }, body, signal),
  }));
  answerCall(app, publisher.contentSource, async ({ caller, params, body, signal }) => ({
    body: await content.source({ ...caller, ...params }, body, signal),
  }));
  answerCall(app, publisher.contentDiagnostics, async ({ caller, params, body, signal }) => ({
    body: await content.diagnostics({ ...caller, ...params }, body, signal),
  }));
  answerCall(app, publisher.removeLabel, async ({ caller, params: { label } }) => {
    const { organization, domain } = caller;
    const { revision } = await appendContent(context, caller, (state) =>
      removeLabel(state, { organization, domain, label }),
    );
    return { body: {}, headers: { 'x-bindery-content-revision': revision } };
  });
  return app;
}
