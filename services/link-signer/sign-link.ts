import type { FastifyInstance } from 'fastify';
import type { BundleLink } from '#shared/interfaces/http/exports.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { linkSigner } from '#shared/interfaces/internal/link-signer.ts';
import { ApiError } from '#shared/http/errors.ts';
import { answerCall, internalApp, type InternalServerOptions } from '#shared/interfaces/internal/internal-server.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { type ObjectStore, storeWithin } from '#shared/storage/object-store.ts';

export type LinkSignerParts = {
  bus: Pick<BusParts, 'exports' | 'access'>;
  objectStore: Pick<ObjectStore, 'head' | 'presign'>;
  clock: Clock;
  linkLifetimeSeconds: number;
};

const storeWithinMs = 5_000;

/**
 * Returns a link to the bundle of a completed job. The job's log decides if there is one, and the access is recorded before the link is returned.
 * Throws `not_found` (also for another organization's job, and when the bundle is gone) and `not_completed`.
 */
export async function signLink(parts: LinkSignerParts, caller: Caller, jobId: string): Promise<BundleLink> {
  const { organization } = caller;
  const last = await parts.bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true });
  if (last === undefined) throw new ApiError('not_found', `There is no export job "${jobId}" in this organization.`);
  const { bundle, phase, domain, error } = last.commit.data.state;
  if (phase === 'failed' || phase === 'cancelled') {
    const how = phase === 'cancelled' ? 'was cancelled' : 'failed';
    throw new ApiError('not_completed', `The job ${jobId} ${how}, so it has no bundle: ${error ?? 'see its status'}`);
  }
  if (phase !== 'completed' || bundle === undefined) {
    throw new ApiError(
      'not_completed',
      `The job ${jobId} is not completed. Poll its status until it says "completed", then ask again.`,
    );
  }
  const head = await parts.objectStore.head(bundle.key, { signal: storeWithin(storeWithinMs) });
  if (head === undefined) {
    throw new ApiError('not_found', `The bundle of ${jobId} has been removed. Replay the job to make it again.`);
  }
  const link = await parts.objectStore.presign(bundle.key, {
    lifetimeSeconds: parts.linkLifetimeSeconds,
    fileName: `${domain}.tar.gz`,
    contentType: 'application/gzip',
  });
  const expiresAt = link.expiresAt.toISOString();
  await parts.bus.access.record({
    type: 'LinkSigned',
    version: 1,
    id: `al_${randomBase62(22)}`,
    time: parts.clock.now().toISOString(),
    organization,
    jobId,
    domain,
    actor: caller.actor,
    address: caller.address,
    requestId: caller.requestId,
    bundleSha256: bundle.sha256,
    expiresAt,
  });
  return { jobId, bundleUrl: link.url, expiresAt, sizeBytes: bundle.sizeBytes, sha256: bundle.sha256 };
}

/** The link-signer's HTTP server. */
export function linkSignerApp(parts: LinkSignerParts, options: InternalServerOptions): FastifyInstance {
  const app = internalApp('link-signer', options);
  answerCall(app, linkSigner.signLink, async ({ caller, body }) => ({
    body: await signLink(parts, caller, body.jobId),
  }));
  return app;
}
