import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressRange, covers, proxyRanges, withoutPort } from './address-ranges.ts';

/** Header with the addresses that a request came through, as clients and proxies write it. */
const header = 'x-forwarded-for';
/** Maximum number of entries. Real chains of proxies are shorter. */
const mostEntries = 32;

export type ForwardedAddresses = {
  /** The remaining header: addresses without ports, brackets and zones. Undefined if none remain; then the proxy's own address counts. */
  addresses: string | undefined;
  /** The invalid entry at which the header was cut. */
  wrong: string | undefined;
};

/**
 * Reads `X-Forwarded-For` from its end, where the nearest proxy wrote, up to the first invalid entry: a client may have forged everything before it.
 * Empty entries are left out, because lists in HTTP may have them (RFC 9110, 5.6.1). Pure.
 */
export function readForwarded(text: string): ForwardedAddresses {
  const kept: string[] = [];
  for (const entry of text.split(',').toReversed()) {
    const written = entry.trim();
    if (written === '') continue;
    const address = addressIn(written);
    if (address === undefined) return { addresses: joined(kept), wrong: written };
    kept.unshift(address);
    if (kept.length === mostEntries) break;
  }
  return { addresses: joined(kept), wrong: undefined };
}

const joined = (addresses: readonly string[]): string | undefined =>
  addresses.length === 0 ? undefined : addresses.join(', ');

/** The address of an entry such as `192.0.2.7:50123`, `"[2001:db8::9]:443"` or `fe80::1%eth0`; undefined for any other text. */
function addressIn(entry: string): string | undefined {
  const unquoted = /^"(.*)"$/.exec(entry)?.[1] ?? entry;
  // The zone is removed, because it is an interface of the proxy's machine.
  const address = withoutPort(unquoted).replace(/%[^%\s]+$/, '');
  return address.includes('/') || addressRange(address) === undefined ? undefined : address;
}

/**
 * Rewrites the header of trusted proxies so that the framework finds only addresses in it: an invalid entry could be a new name with each request,
 * and rate limits would count each name separately. After an invalid entry, the address of the proxy that passed it on counts, and a warning is
 * logged once. `proxies` as in the setting; without any, the header is ignored anyway. Add this before any code that reads the address.
 */
export function checkForwarded(
  app: Pick<FastifyInstance, 'addHook'>,
  proxies: readonly string[],
  log: { warn: (what: object, line: string) => void },
): void {
  if (proxies.length === 0) return;
  const ranges = proxies.flatMap(proxyRanges);
  let wasSaid = false;
  app.addHook('onRequest', async ({ raw: { headers }, socket }: FastifyRequest) => {
    const text = headers[header];
    if (text === undefined) return;
    const peer = addressRange(socket.remoteAddress?.replace(/%.*$/, '') ?? '');
    const { addresses, wrong } = readForwarded(String(text));
    if (addresses === undefined) delete headers[header];
    else headers[header] = addresses;
    if (wrong === undefined || wasSaid || peer === undefined || !covers(ranges, peer)) return;
    wasSaid = true;
    log.warn(
      { proxy: socket.remoteAddress, entry: wrong.slice(0, 100) },
      'a trusted proxy sends an "X-Forwarded-For" with an entry that is not an address; the requests count for the proxy itself. Configure it to write the address of its client there',
    );
  });
}
