import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

/**
 * Lookup of hosts that fails with `refusal` if a name has an address that is refused. It checks the addresses that the connection uses, because a
 * name may resolve to others a moment later. Literal addresses are not looked up; for them there is `literalAddress`.
 */
export const guardedLookup =
  (isRefused: (address: string) => boolean, refusal: (host: string) => Error): LookupFunction =>
  (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) done(error, []);
      else if (addresses.some(({ address }) => isRefused(address))) done(refusal(host), []);
      else if (options.all) done(null, addresses);
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };

/** The IP address that is the host of a URL; undefined for a name. Pure. */
export function literalAddress({ hostname }: URL): string | undefined {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) > 0 ? literal : undefined;
}
