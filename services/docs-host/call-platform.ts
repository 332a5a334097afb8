import type { z } from 'zod';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { LinkRefused } from './bundle-refused.ts';
import { safeRequest, textOf } from './download-bundle.ts';

const answerWithinMs = 10_000;
const mostAnswerBytes = 4 * 1024 * 1024;

export type PlatformCall<S extends z.ZodType> = {
  /** Address of the platform, and a key for it. */
  platform: { url: string; key: string };
  path: string;
  method: 'GET' | 'POST';
  body?: object;
  /** Schema of the answer. */
  schema: S;
  /** The settings to check, by the status of a refusal. */
  settingsOf: Readonly<Record<number, string>>;
  signal: AbortSignal;
};

/** Calls the platform. Rejects with `Unavailable` while it does not answer, with `LinkRefused` when it refuses. */
export async function callPlatform<S extends z.ZodType>({
  platform: { url, key },
  path,
  method,
  body: sent,
  schema,
  settingsOf,
  signal,
}: PlatformCall<S>): Promise<z.output<S>> {
  const address = new URL(url.replace(/\/+$/, '') + path);
  const { statusCode, body } = await safeRequest(address, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(sent !== undefined && { 'content-type': 'application/json' }) },
    ...(sent !== undefined && { body: JSON.stringify(sent) }),
    headersTimeout: answerWithinMs,
    bodyTimeout: answerWithinMs,
    signal,
  });
  body.on('error', () => {});
  const text = await textOf(body, mostAnswerBytes).catch((error: unknown) => {
    throw new Unavailable(`the platform's answer broke off`, { cause: error });
  });
  if (statusCode !== 200) throw refusalOfPlatform(statusCode, text, settingsOf);
  const parsed = schema.safeParse(jsonIn(text));
  if (!parsed.success) throw new Unavailable(`${address.host} sent an answer that is not from Bindery`);
  return parsed.data;
}

/** The error for an answer of the platform without success: `Unavailable` if a retry may succeed, else `LinkRefused`. Pure. */
export function refusalOfPlatform(
  statusCode: number,
  text: string,
  settingsOf: Readonly<Record<number, string>>,
): Error {
  if (statusCode === 429 || statusCode >= 500) return new Unavailable(`the platform answered ${statusCode}`);
  const answer = jsonIn(text);
  const said = typeof answer === 'object' && answer !== null && 'error' in answer ? `: ${String(answer.error)}` : '';
  const check = settingsOf[statusCode];
  const advice = check === undefined ? '' : `${said.endsWith('.') ? '' : '.'} Look at ${check}`;
  return new LinkRefused(`the platform answered ${statusCode}${said}${advice}`);
}
