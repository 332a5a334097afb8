import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Calls `ended` once for each request to a server: when its answer is complete, or when the client has gone away before. Before the server's
 * routes are added. The hook `onResponse` of Fastify is not called when a client goes away in the middle of a stream, so it must not free
 * what a request holds.
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
