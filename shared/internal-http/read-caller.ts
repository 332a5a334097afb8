import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, callerHeader, callerSchema } from './caller.ts';

/** What the gateway says of whom it calls for. Throws when the header is missing or wrong: only a service can have sent it. */
export function readCaller(headers: IncomingHttpHeaders): Caller {
  return callerSchema.parse(JSON.parse(String(headers[callerHeader] ?? 'null')));
}
