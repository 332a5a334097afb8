import type { FastifyInstance } from 'fastify';
import { answerCall, internalApp, type InternalServerOptions } from '#shared/interfaces/internal/internal-server.ts';
import { projector } from '#shared/interfaces/internal/projector.ts';
import type { Verifications } from './verifications.ts';

/** The projector's HTTP server, for verifications of the logs. */
export function projectorApp(verifications: Verifications, options: InternalServerOptions): FastifyInstance {
  const app = internalApp('projector', options);
  answerCall(app, projector.startVerification, async ({ caller, body: { again, ...scope } }) => ({
    body: await verifications.start(scope, { askedBy: caller.actor, again }),
  }));
  answerCall(app, projector.readVerification, async ({ body }) => ({ body: await verifications.read(body) }));
  return app;
}
