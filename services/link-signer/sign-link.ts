import type { SiteLink } from '#shared/interfaces/http/exports.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { bundlePiecesKey } from '#shared/contracts/stored-objects.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { type ObjectStore, storeWithin } from '#shared/storage/object-store.ts';
import { bundleRemoved, completedJob } from './completed-job.ts';

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
export async function signLink(
  parts: LinkSignerParts,
  caller: Caller,
  { jobId, withPieces = false }: { jobId: string; withPieces?: boolean | undefined },
): Promise<SiteLink> {
  const { organization } = caller;
  const { bundle, domain, manifestSha256 } = await completedJob(parts.bus, organization, jobId);
  const head = await parts.objectStore.head(bundle.key, { signal: storeWithin(storeWithinMs) });
  if (head === undefined) throw bundleRemoved(jobId);
  const link = await parts.objectStore.presign(bundle.key, {
    lifetimeSeconds: parts.linkLifetimeSeconds,
    fileName: `${domain}.tar.gz`,
    contentType: 'application/gzip',
  });
  const expiresAt = link.expiresAt.toISOString();
  const pieces = withPieces ? await signedPieces(parts, bundle, manifestSha256) : undefined;
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
  const { sizeBytes, sha256 } = bundle;
  return { jobId, bundleUrl: link.url, expiresAt, sizeBytes, sha256, ...(pieces && { pieces }) };
}

/** The link to the list of a bundle's pieces. Both digests are from the log, so their reader need not trust the store. */
async function signedPieces(
  { objectStore, linkLifetimeSeconds }: LinkSignerParts,
  { key, piecesSha256 }: { key: string; piecesSha256?: string | undefined },
  manifestSha256: string | undefined,
): Promise<SiteLink['pieces']> {
  if (piecesSha256 === undefined || manifestSha256 === undefined) return undefined;
  const { url } = await objectStore.presign(bundlePiecesKey(key), {
    lifetimeSeconds: linkLifetimeSeconds,
    fileName: 'pieces.json',
    contentType: 'application/json',
  });
  return { url, sha256: piecesSha256, manifestSha256 };
}
