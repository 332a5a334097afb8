import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Calls `ended` once for each request to a server: when its answer is complete, or when the client has disconnected before. Must be called
 * before the server's routes are added. Fastify does not call the hook `onResponse` when a client disconnects during a stream, so that hook
 * must not free what a request holds.
 */
export function afterAnswers(
  app: FastifyInstance,
  ended: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    let isOver = false;
    const end = (): void => {
      if (!isOver) ended(request, reply);
      isOver = true;
    };
    reply.raw.once('finish', end).once('close', end);
    done();
  });
}
