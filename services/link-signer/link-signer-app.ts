import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { signLinkBodySchema } from '#shared/contracts/http/bundle-link.ts';
import { internalApp } from '#shared/internal-http/internal-app.ts';
import { readCaller } from '#shared/internal-http/read-caller.ts';
import type { ReadinessChecks } from '#shared/lifecycle/health-server.ts';
import { type LinkSignerParts, signLink } from './sign-link.ts';

/** The link-signer's HTTP server. */
export function linkSignerApp(
  parts: LinkSignerParts,
  options: { serviceToken: string; logger: Logger; checks: ReadinessChecks; draining: () => boolean },
): FastifyInstance {
  const app = internalApp({ service: 'link-signer', ...options });
  app.post('/internal/links', async (request) => {
    const { jobId } = signLinkBodySchema.parse(request.body);
    return await signLink(parts, readCaller(request.headers), jobId);
  });
  return app;
}
