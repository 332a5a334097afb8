import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { addressRange, covers, proxyRanges } from '#shared/http/address-ranges.ts';
import type { NoSite } from './host-app.ts';

/** The host name that a request is for, and its target as a path. */
export type RequestedHost = { name: string; target: string };

const oddHost: NoSite = { status: 421, sentence: 'The name of the host in this request cannot be read.' };
const missingHost: NoSite = { status: 400, sentence: 'A request has to name one host.' };

/**
 * The host name of a request, in lower case, without port and without a dot at its end. A request with a whole address as its target has to name the same
 * host twice. `forwarded`: `X-Forwarded-Host`, if a trusted proxy sent it. Pure.
 */
export function requestedHost(
  { rawHeaders, url = '/' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>,
  forwarded?: string,
): RequestedHost | NoSite {
  const written = hostIn(rawHeaders);
  if (written === undefined) return missingHost;
  // Each proxy appends the host name that it received, so the last one is from the nearest proxy.
  const name = hostName(forwarded?.split(',').at(-1)?.trim() ?? written);
  if (name === undefined) return written === '' ? missingHost : oddHost;
  if (url.startsWith('/')) return { name, target: url };
  const whole = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url);
  if (whole === null) return { name, target: url };
  const [, authority = '', rest = ''] = whole;
  if (hostName(authority) !== hostName(written))
    return { status: 400, sentence: 'The address and the Host header of this request name two hosts.' };
  return { name, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/** The value of the only Host header; undefined if there is none, or more than one. */
function hostIn(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[at + 1] ?? '';
  }
  return found;
}

const longestName = 253;
const namePattern = /^([a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)\.?(?::[0-9]{1,5})?$/;
const literalPattern = /^(\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

function hostName(text: string): string | undefined {
  if (text.length > longestName + ':65535'.length + 1) return undefined;
  const lower = text.toLowerCase();
  const name = (namePattern.exec(lower) ?? literalPattern.exec(lower))?.[1];
  return name === undefined || name.length > longestName ? undefined : name;
}

const mostPeers = 1_000;

/** Reads `X-Forwarded-Host` of requests that come from trusted proxies. `proxies` as in the setting. */
export function forwardedHosts(proxies: readonly string[]) {
  const ranges = proxies.flatMap(proxyRanges);
  const known = new LRUCache<string, boolean>({ max: mostPeers });
  const isTrusted = (peer: string): boolean => {
    let trusted = known.get(peer);
    if (trusted === undefined) {
      const range = addressRange(peer.replace(/%.*$/, ''));
      trusted = range !== undefined && covers(ranges, range);
      known.set(peer, trusted);
    }
    return trusted;
  };
  return ({ headers, socket }: IncomingMessage): string | undefined => {
    const said = headers['x-forwarded-host'];
    return said !== undefined && ranges.length > 0 && isTrusted(socket.remoteAddress ?? '') ? String(said) : undefined;
  };
}
