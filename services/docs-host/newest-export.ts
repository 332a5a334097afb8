import { bundleLinkSchema, exportListSchema } from '#shared/interfaces/http/exports.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import type { z } from 'zod';
import type { BundleOrigin } from './config.ts';
import { BundleRefused, LinkRefused } from './bundle-refused.ts';
import { type ExpectedBundle, safeRequest, textOf } from './download-bundle.ts';

type Platform = Extract<BundleOrigin, { kind: 'platform' }>;

export type NewestExport = { jobId: string; link: () => Promise<{ url: string; expected: ExpectedBundle }> };

const mostPages = 20;
const answerWithinMs = 10_000;
const mostAnswerBytes = 4 * 1024 * 1024;

/**
 * The newest completed export of a domain, and of one version if that is given. `link` signs a link to its bundle. Rejects with `Unavailable` while
 * the platform does not answer, with `BundleRefused` when it refuses or has no such export.
 */
export async function newestExport(
  platform: Platform,
  version: string | undefined,
  signal: AbortSignal,
): Promise<NewestExport> {
  const { domain } = platform;
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const query = new URLSearchParams({
      domain,
      status: 'completed',
      limit: '100',
      ...(cursor !== undefined && { cursor }),
    });
    const list = await call(platform, `/v1/static-export/jobs?${query.toString()}`, 'GET', exportListSchema, signal);
    const job = list.jobs.find((each) => version === undefined || each.version === version);
    if (job !== undefined) {
      const { jobId } = job;
      return {
        jobId,
        link: async () => {
          const link = await call(platform, `/v1/static-export/jobs/${jobId}/bundle`, 'POST', bundleLinkSchema, signal);
          const { bundleUrl, sha256, sizeBytes } = link;
          return { url: bundleUrl, expected: { sha256, sizeBytes } };
        },
      };
    }
    cursor = list.nextCursor;
    if (cursor === undefined) break;
  }
  const which = version === undefined ? '' : ` of the version "${version}"`;
  throw new BundleRefused(`the platform has no completed export of "${domain}"${which}. Start one`);
}

async function call<S extends z.ZodType>(
  { url, key }: Platform,
  path: string,
  method: 'GET' | 'POST',
  schema: S,
  signal: AbortSignal,
): Promise<z.output<S>> {
  const address = new URL(url.replace(/\/+$/, '') + path);
  const { statusCode, body } = await safeRequest(address, {
    method,
    headers: { authorization: `Bearer ${key}` },
    headersTimeout: answerWithinMs,
    bodyTimeout: answerWithinMs,
    signal,
  });
  body.on('error', () => {});
  const text = await textOf(body, mostAnswerBytes).catch((error: unknown) => {
    throw new Unavailable(`the platform's answer broke off`, { cause: error });
  });
  if (statusCode === 429 || statusCode >= 500) throw new Unavailable(`the platform answered ${statusCode}`);
  const answer = jsonIn(text);
  if (statusCode !== 200) {
    const said = typeof answer === 'object' && answer !== null && 'error' in answer ? `: ${String(answer.error)}` : '';
    const check = settingsOf[statusCode];
    const advice = check === undefined ? '' : `${said.endsWith('.') ? '' : '.'} Look at ${check}`;
    throw new LinkRefused(`the platform answered ${statusCode}${said}${advice}`);
  }
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new Unavailable(`${address.host} sent an answer that is not from Bindery`);
  return parsed.data;
}

/** The settings that cause each status of a refusal. */
const settingsOf: Readonly<Record<number, string>> = {
  401: 'BINDERY_EXPORT_KEY',
  403: 'BINDERY_EXPORT_KEY',
  404: 'BINDERY_DOCS_DOMAIN and BINDERY_PLATFORM_URL',
};
