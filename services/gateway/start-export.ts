import { canonicalJson } from '#shared/canonical-json/canonical-json.ts';
import { sha256Of } from '#shared/canonical-json/sha256-of.ts';
import { type ExportSelection, selectionKey } from '#shared/contracts/export-selection.ts';
import type { StartExportBody } from '#shared/contracts/http/start-export.ts';
import { contentLogSubject } from '#shared/subjects/subject-names.ts';
import type { Admission } from './admission.ts';
import { appendExportRequest, jobOfSameRequest } from './append-export-request.ts';
import type { RequestOrigin } from './append-to-directory.ts';
import { askBus } from './ask-bus.ts';
import { checkPaths } from './check-paths.ts';
import { chooseContent } from './choose-content.ts';
import type { GatewayContext } from './context.ts';
import type { JobView } from './read-job.ts';
import {
  jobIdOfIdempotencyKey,
  newJobId,
  sortedOnce,
  sortedPagePaths,
  startRequestDigest,
} from './requested-export.ts';
import { resolveDomain } from './resolve-domain.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import type { SitePages } from './site-pages.ts';

const putWithinMs = 10_000;

export type StartExport = {
  body: StartExportBody;
  idempotencyKey: string | undefined;
  admission: Admission;
  origin: RequestOrigin;
  /** Counts the request against the organization's limits; throws `rate_limited`. A repeated request is not counted. */
  count: () => Promise<void>;
};

/** Appends the request of an export and answers with its job. Throws the `ApiError` that its maker sees. */
export async function startExport(context: GatewayContext, pages: SitePages, request: StartExport): Promise<JobView> {
  const { body, admission, origin } = request;
  const { organization, organizationPlan } = admission;
  // 1. The same request under the same idempotency key is the job that there is.
  const domain = resolveDomain(admission.domains, body.domain).slug;
  const requestDigest = startRequestDigest(body, domain);
  const jobId =
    request.idempotencyKey === undefined
      ? newJobId(context.random)
      : jobIdOfIdempotencyKey(context.config.hashKey, organization, request.idempotencyKey);
  if (request.idempotencyKey !== undefined) {
    const existing = await jobOfSameRequest(context, { organization, jobId, requestDigest });
    if (existing !== undefined) return existing;
  }
  await request.count();
  // 2. Which content, and whether it has the pages that were asked for.
  const content = await askBus(context.bus.content.last(contentLogSubject(organization, domain), { fromLeader: true }));
  const contentVersion = chooseContent(domain, content?.commit.data.state, body.version);
  if (body.paths !== undefined) {
    const known = await pages(organization, domain, contentVersion);
    if (known === undefined)
      throw new ApiError('not_found', `The files of content version ${contentVersion} are gone. Publish again.`);
    checkPaths(body.paths, known, contentVersion);
  }
  // 3. The selection is stored before the commit that names it.
  const selection =
    body.paths === undefined ? undefined : await storeSelection(context, organization, sortedPagePaths(body.paths));
  return await appendExportRequest(
    context,
    {
      jobId,
      organization,
      organizationPlan,
      domain,
      contentVersion,
      ...(body.version === undefined ? {} : { label: body.version }),
      options: {
        ...(selection === undefined ? {} : { selectionKey: selection }),
        groups: sortedOnce(body.groups),
        deployment: body.deployment,
        onPageError: body.onPageError,
        // The bundle is the client's own site.
        allowTenantScripts: true,
      },
      requestDigest,
    },
    origin,
  );
}

async function storeSelection({ objectStore }: GatewayContext, organization: string, paths: string[]): Promise<string> {
  const text = canonicalJson({ version: 1, paths } satisfies ExportSelection);
  const key = selectionKey(organization, sha256Of(text));
  // Also when it is there: housekeeping goes by the age of what the log does not name yet.
  await objectStore.put(key, Buffer.from(text), {
    contentType: 'application/json',
    signal: AbortSignal.timeout(putWithinMs),
  });
  return key;
}
