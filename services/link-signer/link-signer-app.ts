import type { FastifyInstance } from 'fastify';
import { linkSigner } from '#shared/interfaces/internal/link-signer.ts';
import { answerCall, internalApp, type InternalServerOptions } from '#shared/interfaces/internal/internal-server.ts';
import { type ReportParts, reportsOf } from './export-reports.ts';
import { type LinkSignerParts, signLink } from './sign-link.ts';

/** The link-signer's HTTP server: links to bundles, and the reports in bundles. */
export function linkSignerApp(parts: LinkSignerParts & ReportParts, options: InternalServerOptions): FastifyInstance {
  const app = internalApp('link-signer', options);
  const reports = reportsOf(parts);
  answerCall(app, linkSigner.signLink, async ({ caller, body }) => ({
    body: await signLink(parts, caller, body),
  }));
  answerCall(app, linkSigner.readReport, async ({ caller, body: { jobId, ...query }, signal }) => ({
    body: await reports.answer(caller.organization, jobId, query, signal),
  }));
  return app;
}
