import type { FastifyInstance } from 'fastify';

const graceMs = 5_000;

/** Stops listening, lets requests that are being answered finish, and cuts off those that are not done after `graceMs`. */
export async function closeServer(app: FastifyInstance, withinMs = graceMs): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), withinMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
