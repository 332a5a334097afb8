import type { FastifyInstance } from 'fastify';
import { answerCall, internalApp, type InternalServerOptions } from '#shared/interfaces/internal/internal-server.ts';
import { orchestrator } from '#shared/interfaces/internal/orchestrator.ts';
import { type WorkContext, workNow } from './work-now.ts';

/** The orchestrator's HTTP server: its health, and the work in progress. */
export function orchestratorApp(context: WorkContext, options: InternalServerOptions): FastifyInstance {
  const app = internalApp('orchestrator', options);
  answerCall(app, orchestrator.readWork, async () => ({ body: await workNow(context) }));
  return app;
}
