import { ApiError } from '#shared/errors/api-error.ts';
import { contentLogSubject } from '#shared/subjects/subject-names.ts';
import type { Admission } from './admission.ts';
import { appendExportRequest, jobOfSameRequest } from './append-export-request.ts';
import type { RequestOrigin } from './append-to-directory.ts';
import { askBus } from './ask-bus.ts';
import type { GatewayContext } from './context.ts';
import { type JobView, readJobForDecision } from './read-job.ts';
import { jobIdOfIdempotencyKey, newJobId, replayRequestDigest } from './requested-export.ts';

/** Starts a new job over the same content version and options as one that has ended. */
export async function replayExport(
  context: GatewayContext,
  request: {
    jobId: string;
    idempotencyKey: string | undefined;
    admission: Admission;
    origin: RequestOrigin;
    count: () => Promise<void>;
  },
): Promise<JobView> {
  const { organization, organizationPlan } = request.admission;
  const source = (await readJobForDecision(context, organization, request.jobId)).commit.data.state;
  const requestDigest = replayRequestDigest(source.jobId);
  const jobId =
    request.idempotencyKey === undefined
      ? newJobId(context.random)
      : jobIdOfIdempotencyKey(context.config.hashKey, organization, request.idempotencyKey);
  if (request.idempotencyKey !== undefined) {
    const existing = await jobOfSameRequest(context, { organization, jobId, requestDigest });
    if (existing !== undefined) return existing;
  }
  if (source.completedAt === undefined) {
    throw new ApiError('not_completed', `The job ${source.jobId} has not ended. Replay it when it has.`);
  }
  await request.count();
  const subject = contentLogSubject(organization, source.domain);
  const content = await askBus(context.bus.content.last(subject, { fromLeader: true }));
  const versions = content?.commit.data.state.versions ?? [];
  if (!versions.some(({ contentVersion }) => contentVersion === source.contentVersion)) {
    throw new ApiError(
      'not_found',
      `The content version ${source.contentVersion} that ${source.jobId} exported was deleted, so it cannot be replayed.`,
    );
  }
  const { domain, contentVersion, label, options } = source;
  return await appendExportRequest(
    context,
    {
      jobId,
      organization,
      organizationPlan,
      domain,
      contentVersion,
      ...(label === undefined ? {} : { label }),
      options,
      requestDigest,
      replayOf: source.jobId,
    },
    request.origin,
  );
}
