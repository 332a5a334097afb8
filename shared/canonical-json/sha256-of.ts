import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** SHA-256 as hex of bytes, or of text as UTF-8. */
export function sha256Of(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** SHA-256 as hex of a value's canonical JSON. */
export function sha256OfJson(value: unknown): string {
  return sha256Of(canonicalJson(value));
}
