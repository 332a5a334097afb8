import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import { readerAddressHeader } from '#shared/interfaces/http/assistant.ts';
import { addressRange, withoutPort } from '#shared/http/address-ranges.ts';
import { ApiError } from '#shared/http/errors.ts';

/**
 * The address that a request is counted for: the client's, unless a server with the scope `proxy` names its reader's. The header of any other caller
 * is ignored, because each request could name another address. The allowed addresses of a key are still compared with the sender. Throws
 * `invalid_request` if a server with the scope names no address. Pure.
 */
export function readerAddress(
  { ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>,
  key: Pick<ApiKey, 'scopes'> | undefined,
): string {
  const named = headers[readerAddressHeader];
  if (named === undefined || key?.scopes.includes('proxy') !== true) return ip;
  const address = withoutPort(String(named).trim());
  if (address.includes('/') || addressRange(address) === undefined)
    throw new ApiError(
      'invalid_request',
      'The header "X-Reader-Address" must be one IP address: that of the reader for whom a server asks.',
    );
  return address;
}
