import type { IncomingMessage } from 'node:http';

type Seen = Pick<IncomingMessage, 'method' | 'headers'>;

/** Names in `User-Agent` of programs that read pages without a reader. Phones of one maker have a name that ends with "bot". */
const robots =
  /(?<!cu)bot\b|crawl|spider|slurp|preview|scrap|monitor|headless|lighthouse|archiver|facebookexternalhit|feedfetcher|validator|checker|curl|wget|python|java\/|okhttp|go-http|node|undici|axios|libwww|perl|ruby|php/i;

/**
 * True if a reader opened a page: a browser asks for a document, neither in advance nor for a program or another page that shows it. Browsers from before
 * `Sec-Fetch-Dest` count when they ask for HTML. Pure.
 */
export function isPageView({ method, headers }: Seen): boolean {
  if (method !== 'GET' || headers.range !== undefined) return false;
  const { 'sec-fetch-dest': destination, 'sec-purpose': secPurpose, purpose, 'x-moz': moz, accept = '' } = headers;
  if (destination === undefined ? !accept.includes('text/html') : destination !== 'document') return false;
  if ([secPurpose, purpose, moz].some((each) => each !== undefined && /prefetch|prerender|preview/i.test(String(each))))
    return false;
  const agent = headers['user-agent'] ?? '';
  return agent !== '' && !robots.test(agent);
}

/** The host name of the page with the link to this one; undefined if there is none, or if it is of the site itself. Pure. */
export function referrerOf(
  { headers: { referer } }: Pick<Seen, 'headers'>,
  hosts: readonly string[],
): string | undefined {
  if (referer === undefined || referer.length > 2_000) return undefined;
  const url = URL.parse(referer);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const name = url.hostname.replace(/\.$/, '');
  return hosts.includes(name) ? undefined : name;
}
