import { z } from 'zod';
import { loginName } from './sites.ts';

/** The address under which an installation serves sites: `https` and `docs.example.com`, or `http` and `localhost:8090`. */
export type SitesBase = { protocol: 'http' | 'https'; host: string; port: string };

/** Text of a base: `https://docs.example.com`, or `localhost:8090`. */
export const sitesBaseText = z
  .string()
  .refine(isSitesBase, 'must be a host name or an address, such as https://docs.example.com or localhost:8090');

/** True for a text that `sitesBaseOf` reads. Pure. */
export function isSitesBase(text: string): boolean {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  return (
    url !== null &&
    /^[a-z0-9.-]+$/.test(url.hostname) &&
    url.pathname === '/' &&
    url.search === '' &&
    url.username === ''
  );
}

/** Reads the text of a base. Pure. */
export function sitesBaseOf(text: string): SitesBase {
  const url = new URL(/^https?:\/\//.test(text) ? text : `http://${text}`);
  return { protocol: url.protocol === 'https:' ? 'https' : 'http', host: url.hostname, port: url.port };
}

/** The origin of a host name where sites are served. Pure. */
export const originOf = ({ protocol, port }: SitesBase, host: string): string =>
  `${protocol}://${host}${port === '' ? '' : `:${port}`}`;

/** The host name where readers return from the provider. Pure. */
export const loginHostOf = ({ host }: SitesBase): string => `${loginName}.${host}`;
