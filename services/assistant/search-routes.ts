import type { FastifyInstance } from 'fastify';
import { assistant } from '#shared/contracts/internal/assistant.ts';
import { ApiError } from '#shared/http/errors.ts';
import { answerCall } from '#shared/http/internal-server.ts';
import { pageMarkdownKey } from '#shared/contracts/stored-objects.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { AnswerParts } from './prepare-answer.ts';
import { pagePathOf, pageUrl, searchedContent, trustedGroups } from './retrieval.ts';

const DEFAULT_PAGE_SIZE = 10;

/** The best passages for a query. */
export function addSearchRoute(app: FastifyInstance, parts: Pick<AnswerParts, 'bus' | 'searchIndex'>): void {
  answerCall(app, assistant.search, async ({ caller, body }) => {
    const { query, pageSize, scoreThreshold, filter } = body;
    const scope = await searchedContent(parts.bus.readModels.directoryContents, caller);
    if (!scope) return { body: [] };
    const found = await parts.searchIndex.search({
      ...scope,
      query,
      limit: pageSize ?? DEFAULT_PAGE_SIZE,
      filter: {
        version: filter?.version || undefined,
        language: filter?.language || undefined,
        tag: filter?.tag || undefined,
        groups: trustedGroups(caller, filter?.groups),
      },
    });
    return {
      body: found
        .filter((passage) => passage.score >= (scoreThreshold ?? 0))
        .map(({ path, anchor, title, heading, text, score, language, version, tag }) => ({
          content: text,
          path,
          metadata: { title, heading, url: pageUrl(path, anchor), score, language, version, tag },
        })),
    };
  });
}

const STORE_DEADLINE_MS = 10_000;

/** The Markdown of one page that the reader may see. */
export function addPageRoute(
  app: FastifyInstance,
  parts: Pick<AnswerParts, 'bus' | 'searchIndex'> & { objects: ObjectStore },
): void {
  answerCall(app, assistant.page, async ({ caller, body }) => {
    const path = pagePathOf(body.path);
    const scope = await searchedContent(parts.bus.readModels.directoryContents, caller);
    const page =
      scope && path !== undefined
        ? await parts.searchIndex.findPage(scope, path, trustedGroups(caller, body.groups))
        : undefined;
    const markdown =
      scope && page
        ? await parts.objects.get(pageMarkdownKey(scope, page.path), { signal: AbortSignal.timeout(STORE_DEADLINE_MS) })
        : undefined;
    if (!page || !markdown)
      throw new ApiError('not_found', `There is no page "${body.path.slice(0, 200)}" in this documentation.`);
    return { body: { path: page.path, content: Buffer.from(markdown).toString('utf8') } };
  });
}
