import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiError } from '#shared/http/errors.ts';
import { publicRoute } from '../public-route.ts';

const file = {
  method: 'GET',
  key: 'none',
  answersHead: true,
  isPublicFile: true,
  undocumented: true,
  alsoAs: { 'text/javascript': { description: 'The script.' } },
} as const;

const digest = z.string().regex(/^[0-9a-f]{16}$/);

/** The script that puts the assistant on any page. Its documentation is a page of its own. */
export const widgetRoutes = [
  publicRoute(
    { ...file, id: 'readWidget', path: '/_bindery/widget.js', summary: 'Returns the newest widget script.' },
    async (_context, { request, reply }) => sendWidget(request, reply, undefined),
  ),
  publicRoute(
    {
      ...file,
      id: 'readWidgetVersion',
      path: '/_bindery/@:digest/widget.js',
      summary: 'Returns the widget script with one digest.',
      params: z.object({ digest }),
    },
    async (_context, { params, request, reply }) => sendWidget(request, reply, params.digest),
  ),
];

async function sendWidget(request: FastifyRequest, reply: FastifyReply, digest: string | undefined) {
  // The parts of the script, and what draws its icons, are loaded for the first page that asks.
  const { widgetAnswer } = await import('#shared/docs/render/site/widget-answer.ts');
  const { 'accept-encoding': acceptEncoding, 'if-none-match': ifNoneMatch } = request.headers;
  const answer = await widgetAnswer({ acceptEncoding, ifNoneMatch }, digest);
  if (answer === undefined)
    throw new ApiError('not_found', 'This installation has another version of the script. See /_bindery/widget.js.');
  return reply.code(answer.status).headers(answer.headers).send(answer.body);
}
