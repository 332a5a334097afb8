import type { z } from 'zod';
import { ApiError } from '#shared/errors/api-error.ts';
import { invalidRequest } from '#shared/errors/to-api-error.ts';

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
