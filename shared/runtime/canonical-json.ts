import { createHash } from 'node:crypto';

/**
 * JSON with sorted keys, no white space and `undefined` members left out: equal values give equal text, so it can be hashed
 * (the form of RFC 8785 for the values that occur here: no non-finite numbers).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
  return JSON.stringify(value);
}

/** SHA-256 as hex of bytes, or of text as UTF-8. */
export function sha256Of(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** SHA-256 as hex of a value's canonical JSON. */
export function sha256OfJson(value: unknown): string {
  return sha256Of(canonicalJson(value));
}
