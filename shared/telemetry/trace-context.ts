import { randomBytes } from 'node:crypto';

/** W3C Trace Context, version 00: https://www.w3.org/TR/trace-context/ */
const pattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A new span under `parent` if that is a valid `traceparent`, else the first of a new trace (not sampled). */
export function nextTraceparent(parent?: string): string {
  const span = randomBytes(8).toString('hex');
  if (parent !== undefined && pattern.test(parent)) return `${parent.slice(0, 36)}${span}${parent.slice(52)}`;
  return `00-${randomBytes(16).toString('hex')}-${span}-00`;
}
