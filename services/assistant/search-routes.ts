import type { FastifyInstance } from 'fastify';
import { ApiError, invalidRequest } from '#shared/http/errors.ts';
import { readCaller } from '#shared/http/internal-server.ts';
import { pageMarkdownKey } from '#shared/search/search-index.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { AnswerParts } from './prepare-answer.ts';
import { pageBodySchema, searchBodySchema } from './request-bodies.ts';
import { pagePathOf, pageUrl, searchedContent, trustedGroups } from './retrieval.ts';

const DEFAULT_PAGE_SIZE = 10;

/** `POST /internal/search`: the best passages, `[{content, path, metadata}]`. */
export function addSearchRoute(app: FastifyInstance, parts: Pick<AnswerParts, 'bus' | 'searchIndex'>): void {
  app.post('/internal/search', async (request) => {
    const caller = readCaller(request.headers);
    const parsed = searchBodySchema.safeParse(request.body);
    if (!parsed.success) throw invalidRequest(parsed.error);
    const { query, pageSize, scoreThreshold, filter } = parsed.data;
    const scope = await searchedContent(parts.bus.documents.directoryContents, caller);
    if (!scope) return [];
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
    return found
      .filter((passage) => passage.score >= (scoreThreshold ?? 0))
      .map(({ path, anchor, title, heading, text, score, language, version, tag }) => ({
        content: text,
        path,
        metadata: { title, heading, url: pageUrl(path, anchor), score, language, version, tag },
      }));
  });
}

const STORE_DEADLINE_MS = 10_000;

/** `POST /internal/page`: the Markdown of one page that the reader may see, `{path, content}`. */
export function addPageRoute(
  app: FastifyInstance,
  parts: Pick<AnswerParts, 'bus' | 'searchIndex'> & { objects: ObjectStore },
): void {
  app.post('/internal/page', async (request) => {
    const caller = readCaller(request.headers);
    const parsed = pageBodySchema.safeParse(request.body);
    if (!parsed.success) throw invalidRequest(parsed.error);
    const path = pagePathOf(parsed.data.path);
    const scope = await searchedContent(parts.bus.documents.directoryContents, caller);
    const page =
      scope && path !== undefined
        ? await parts.searchIndex.findPage(scope, path, trustedGroups(caller, parsed.data.groups))
        : undefined;
    const markdown =
      scope && page
        ? await parts.objects.get(pageMarkdownKey(scope, page.path), { signal: AbortSignal.timeout(STORE_DEADLINE_MS) })
        : undefined;
    if (!page || !markdown)
      throw new ApiError('not_found', `There is no page "${parsed.data.path.slice(0, 200)}" in this documentation.`);
    return { path: page.path, content: Buffer.from(markdown).toString('utf8') };
  });
}
