import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ApiError, invalidRequest } from '#shared/http/errors.ts';

/** A body, query or header by its schema; throws `invalid_request` that names the fields. `root` names the whole value. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown, root = 'body'): T {
  if (root === 'body' && (input === undefined || input === null) && !schema.safeParse(input).success) {
    throw new ApiError('invalid_request', 'This request needs a JSON body.', {
      fields: [{ path: 'body', message: 'is missing' }],
    });
  }
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalidRequest(result.error, root);
}

/** Whether the header `Accept` names a type; wildcards do not count, plain JSON is the answer to them. */
export function accepts(request: Pick<FastifyRequest, 'headers'>, type: string): boolean {
  return (request.headers.accept ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === type);
}
