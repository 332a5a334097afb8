import { createHash, hash } from 'node:crypto';

/**
 * JSON with sorted keys, no white space and `undefined` members left out: equal values give equal text, so it can be hashed
 * (the form of RFC 8785 for the values that occur here: no non-finite numbers).
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** SHA-256 as hex of bytes, or of text as UTF-8. */
export function sha256Of(content: Uint8Array | string): string {
  return hash('sha256', content, 'hex');
}

/** SHA-256 as hex of a value's canonical JSON. */
export function sha256OfJson(value: unknown): string {
  return sha256Of(canonicalJson(value));
}

/** SHA-256 as hex of bytes that come in pieces. Rejects with the error of their source. */
export async function sha256OfStream(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of pieces) digest.update(piece);
  return digest.digest('hex');
}

/** The value of a JSON text; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
