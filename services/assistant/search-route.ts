import type { FastifyInstance } from 'fastify';
import { invalidRequest } from '#shared/errors/to-api-error.ts';
import { readCaller } from '#shared/internal-http/read-caller.ts';
import { searchBodySchema } from './message-body.ts';
import { pageUrl } from './page-url.ts';
import type { AnswerParts } from './prepare-answer.ts';
import { searchedContent, trustedGroups } from './searched-content.ts';

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
