import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { openApiDocument } from '../openapi.ts';
import { accepts } from '../parse-input.ts';
import { type PublicRoute, publicRoute } from '../public-route.ts';
import { gatewayPage, type GatewayPage } from './page-shell.ts';
import { referencePage } from './reference-page.ts';

const welcomeSchema = z
  .object({
    name: z.literal('Bindery'),
    description: z.string(),
    openapi: z.string(),
    docs: z.string(),
    health: z.object({ live: z.string(), ready: z.string() }),
    /** Public sites that the operator named. */
    sites: z.array(z.string()),
    /** Address of the console, if the operator named one. */
    console: z.string().optional(),
  })
  .meta({ title: 'Welcome' });

const description = 'Documentation assistant and static export.';
const page = 'text/html';

/** The pages for people who open the gateway in a browser. `routes` is called at the first request, because these routes are among them. */
export function pageRoutes(routes: () => readonly PublicRoute[]): readonly PublicRoute[] {
  let reference: GatewayPage | undefined;
  return [
    publicRoute(
      {
        id: 'welcome',
        method: 'GET',
        path: '/',
        summary: 'Describes the installation, with links to everything else.',
        key: 'none',
        answersHead: true,
        answer: welcomeSchema,
        alsoAs: { [page]: { description: 'The same information as a page.' } },
      },
      async ({ config: { publicSites, consoleUrl } }, { request, reply }) => {
        reply.header('vary', 'Accept');
        if (accepts(request, page)) {
          const { text, headers } = welcomePage(publicSites, consoleUrl);
          return reply.headers(headers).send(text);
        }
        const health = { live: '/livez', ready: '/readyz' };
        return {
          name: 'Bindery' as const,
          description,
          openapi: '/openapi.json',
          docs: '/docs',
          health,
          sites: publicSites,
          ...(consoleUrl !== undefined && { console: consoleUrl }),
        };
      },
    ),
    publicRoute(
      {
        id: 'readReference',
        method: 'GET',
        path: '/docs',
        summary: 'Shows this interface as a page.',
        key: 'none',
        answersHead: true,
        alsoAs: { [page]: { description: 'The page.' } },
      },
      async (_, { reply }) => {
        reference ??= referencePage(openApiDocument(routes()));
        return reply.headers(reference.headers).send(reference.text);
      },
    ),
  ];
}

function welcomePage(sites: readonly string[], consoleUrl: string | undefined): GatewayPage {
  return gatewayPage(
    'Bindery',
    html`<main id="content">
<h1>Bindery</h1>
<p class="lead">This is a Bindery installation: it answers questions about documentation sites, and exports whole sites as one archive.</p>
${
  sites.length > 0 &&
  html`<h2>Sites</h2><ul>${sites.map((site) => html`<li><a href="${site}" rel="noreferrer">${site}</a></li>`)}</ul>`
}
${
  consoleUrl !== undefined &&
  html`<h2>For people who publish</h2><ul><li><a href="${consoleUrl}" rel="noreferrer">Console</a>: sites, exports, API keys, questions and the audit</li></ul>`
}
<h2>For programs and their authors</h2>
<ul>
<li><a href="/docs">HTTP interface</a>: every route, with examples</li>
<li><a href="/openapi.json">OpenAPI description</a>: the same for programs</li>
</ul>
<h2>For operators</h2>
<ul>
<li><a href="/readyz">Readiness</a>: what is missing, if anything</li>
<li><a href="/livez">Liveness</a></li>
</ul>
<p class="muted">The documentation comes with Bindery, in the folder <code>infra/docs</code>; the demo of <code>npm start</code> publishes it.</p>
</main>`,
  );
}
