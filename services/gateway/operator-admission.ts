import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { parseApiKey } from '#shared/api-key/api-key.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import { bearerToken } from './admission.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** A hook that lets in who shows the operator's token. */
export function admitOperator(operatorToken: string): (request: FastifyRequest) => Promise<void> {
  const expected = digest(operatorToken);
  return async (request) => {
    const shown = bearerToken(request);
    if (timingSafeEqual(digest(shown), expected)) return;
    if (parseApiKey(shown) === undefined)
      throw new ApiError('invalid_key', 'This is not the operator token of this installation.');
    throw new ApiError('wrong_key_kind', 'This request needs the operator token of the installation, not an API key.');
  };
}
