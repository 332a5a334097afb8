import type { FastifyRequest } from 'fastify';

/** Whether the header `Accept` names a type; wildcards do not count, plain JSON is the answer to them. */
export function accepts(request: Pick<FastifyRequest, 'headers'>, type: string): boolean {
  return (request.headers.accept ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === type);
}
