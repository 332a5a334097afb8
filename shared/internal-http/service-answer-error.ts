import type { Readable } from 'node:stream';
import { ApiError, type ErrorBody } from '#shared/errors/api-error.ts';
import { errorTable } from '#shared/errors/error-table.ts';
import type { ServiceAnswer } from './call-service.ts';

const maxErrorBytes = 256 * 1024;

/** The error that a service answered with, to be thrown on. What is no error of the public interface becomes a plain `Error`. */
export async function serviceAnswerError(service: string, answer: ServiceAnswer): Promise<Error> {
  const text = await readText(answer.body);
  const body = errorBodyIn(text);
  // 401 is about the service token: our own mistake, not the caller's.
  if (answer.status === 401 || body === undefined) {
    return new Error(`The ${service} answered ${answer.status}: ${text.slice(0, 300)}`);
  }
  const retryAfter = Number(answer.headers['retry-after']);
  return new ApiError(body.code, body.error, {
    ...(body.fields ? { fields: body.fields } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
  });
}

/** A body's text, cut at 256 KB. */
async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxErrorBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function errorBodyIn(text: string): ErrorBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    const known = typeof body?.error === 'string' && body.code !== undefined && Object.hasOwn(errorTable, body.code);
    return known ? (body as ErrorBody) : undefined;
  } catch {
    return undefined;
  }
}
