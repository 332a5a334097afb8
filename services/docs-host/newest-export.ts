import { bundleLinkSchema, exportListSchema } from '#shared/interfaces/http/exports.ts';
import type { BundleOrigin } from './config.ts';
import { BundleRefused } from './bundle-refused.ts';
import { callPlatform } from './call-platform.ts';
import type { ExpectedBundle } from './download-bundle.ts';

type Platform = Extract<BundleOrigin, { kind: 'platform' }>;

export type NewestExport = { jobId: string; link: () => Promise<{ url: string; expected: ExpectedBundle }> };

const mostPages = 20;

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
    const path = `/v1/static-export/jobs?${query.toString()}`;
    const list = await callPlatform({ platform, path, method: 'GET', schema: exportListSchema, settingsOf, signal });
    const job = list.jobs.find((each) => version === undefined || each.version === version);
    if (job !== undefined) {
      const { jobId } = job;
      return {
        jobId,
        link: async () => {
          const path = `/v1/static-export/jobs/${jobId}/bundle`;
          const call = { platform, path, method: 'POST', schema: bundleLinkSchema, settingsOf, signal } as const;
          const { bundleUrl, sha256, sizeBytes } = await callPlatform(call);
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

/** The settings to check, by the status of a refusal. */
const settingsOf: Readonly<Record<number, string>> = {
  401: 'BINDERY_EXPORT_KEY',
  403: 'BINDERY_EXPORT_KEY',
  404: 'BINDERY_DOCS_DOMAIN and BINDERY_PLATFORM_URL',
};
