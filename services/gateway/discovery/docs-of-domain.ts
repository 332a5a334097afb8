import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import { countedPath, remarkOf } from '#shared/contracts/site-views.ts';
import { ApiError } from '#shared/http/errors.ts';
import { assistant } from '#shared/interfaces/internal/assistant.ts';
import { contentsKey } from '#shared/interfaces/read-models.ts';
import { type DocsOutline, outlineFor, skillOfOutline } from '#shared/mcp/docs-outline.ts';
import type { DocsSource } from '#shared/mcp/docs-source.ts';
import type { Principal } from '../auth/authenticate.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import type { RouteDeclaration, RouteRequest } from '../public-route.ts';

type Asking = Pick<RouteRequest<RouteDeclaration>, 'ask' | 'request'> & { principal: Principal; domain: DomainEntry };

/** The documentation of a domain for one request of an agent, whose reader has these groups. Searches and pages come from the assistant, which checks the groups again. */
export function docsOfDomain(
  context: GatewayContext,
  { ask, request, principal: { organization }, domain }: Asking,
  groups: readonly string[],
): DocsSource {
  const { slug } = domain;
  const counted = { organization, domain: slug };
  const trusted = [...groups];
  let outline: Promise<DocsOutline> | undefined;

  async function readOutline(): Promise<DocsOutline> {
    const stored = await askBus(context.bus.readModels.directoryContents.get(contentsKey(organization, slug)));
    const contentVersion = stored?.document.state.searched;
    const whole = contentVersion && (await context.siteOutlines.of({ ...counted, contentVersion }));
    if (!whole) return { name: slug, pages: [], tree: [], skills: [] };
    const site = await context.sitesFeed.liveSite(organization, slug);
    return { ...outlineFor(whole, groups), ...(site === undefined ? {} : { address: site.address }) };
  }

  const outlineOf = (): Promise<DocsOutline> => (outline ??= readOutline());

  return {
    outline: outlineOf,

    async search({ query, pageSize, version, language }) {
      const body = { query, pageSize, filter: { version, language } };
      const answer = await ask(assistant.search, domain, { body, headers: {} }, trusted);
      const found = await answer.json();
      return {
        notice: answer.headers['x-search-notice'],
        passages: found.map(
          ({ content, path, metadata: { title, heading, url, score, language: of, version: at } }) => ({
            ...{ path, url, title, heading, content, score },
            ...(of === undefined ? {} : { language: of }),
            ...(at === undefined ? {} : { version: at }),
          }),
        ),
      };
    },

    async readPage(path) {
      try {
        const answer = await ask(assistant.page, domain, { body: { path }, headers: {} }, trusted);
        const page = await answer.json();
        return { path: page.path, markdown: page.content };
      } catch (error) {
        if (error instanceof ApiError && error.code === 'not_found') return undefined;
        throw error;
      }
    },

    async findLines(search) {
      const answer = await ask(assistant.findLines, domain, { body: search, headers: {} }, trusted);
      return await answer.json();
    },

    async readSkill(name) {
      const known = await outlineOf();
      const skill = known.skills.find((each) => each.name === name);
      if (skill === undefined) return undefined;
      if (skill.text !== undefined) return skill.text;
      return skill.file === undefined
        ? skillOfOutline(known)
        : await context.siteOutlines.skill(organization, skill.file);
    },

    async submitFeedback({ message, path, rating }) {
      const remark = remarkOf(message);
      if (remark === undefined)
        throw new ApiError('invalid_request', 'The field "message" has no words that can be stored. Write a sentence.');
      const about = path === undefined ? undefined : countedPath.safeParse(`/${path.replace(/^\/+/, '')}`).data;
      context.agentCounts.remark(counted, {
        message: remark,
        ...(about === undefined ? {} : { path: about }),
        ...(rating === undefined ? {} : { rating }),
      });
    },

    onCall: (call) => context.agentCounts.note(counted, call),
    onFailure: (error) => request.log.error({ err: error, requestId: request.id }, 'a call of an agent failed'),
  };
}
