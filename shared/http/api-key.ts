import { crc32 } from 'node:zlib';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { base62Of, randomBase62 } from '#shared/runtime/time-and-ids.ts';

/**
 * API keys as text: prefix, 30 random base62 digits (178 bits), and 6 digits of CRC-32 over both. So an incomplete or mistyped key is detected
 * without a look-up, and secret scanners can recognize our keys.
 */
const prefixes = { admin: 'svc_', assistant: 'svc_dsc_', site: 'svc_site_' } as const;

/** Kinds of keys that organizations have. A key of kind `site` belongs to the installation: hosts of sites follow its sites with it. */
export type ApiKeyKind = Exclude<keyof typeof prefixes, 'site'>;

const randomDigits = 30;
const checkDigits = 6;

/** Generates a key. `random` returns base62 digits. */
export function generateApiKey(kind: keyof typeof prefixes, random: (length: number) => string = randomBase62): string {
  const body = `${prefixes[kind]}${random(randomDigits)}`;
  return `${body}${checksum(body)}`;
}

/** True for a well-formed key of a host of sites. */
export const isSiteKey = (text: string): boolean =>
  /^svc_site_[0-9A-Za-z]{36}$/.test(text) && checksum(text.slice(0, -checkDigits)) === text.slice(-checkDigits);

/** The kind and hash of a well-formed key; undefined for any other text. The key need not exist. */
export function parseApiKey(text: string): { kind: ApiKeyKind; sha256: string } | undefined {
  const match = /^(svc_(?:dsc_)?)[0-9A-Za-z]{36}$/.exec(text);
  if (match === null || checksum(text.slice(0, -checkDigits)) !== text.slice(-checkDigits)) return undefined;
  return { kind: match[1] === prefixes.assistant ? 'assistant' : 'admin', sha256: sha256Of(text) };
}

const checksum = (text: string): string => base62Of(crc32(text), checkDigits);
