import type { FastifyInstance } from 'fastify';
import { ApiError } from '#shared/errors/api-error.ts';
import { invalidRequest } from '#shared/errors/to-api-error.ts';
import { readCaller } from '#shared/internal-http/read-caller.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { pageMarkdownKey } from '#shared/search/page-markdown-key.ts';
import { pageBodySchema } from './message-body.ts';
import { pagePathOf } from './page-url.ts';
import type { AnswerParts } from './prepare-answer.ts';
import { searchedContent, trustedGroups } from './searched-content.ts';

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
