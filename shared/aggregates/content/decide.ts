import type { ContentId } from '#shared/contracts/identifiers.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { ContentEvent, ContentState } from './content.ts';

/** The decisions about a domain's content. Pure: each throws the `ApiError` that the caller sees; no event means that nothing changes. */

/** The same files again change nothing unless another version is the latest, or the label is elsewhere. */
export function publishContent(
  state: ContentState | undefined,
  published: ContentId & { label?: string; pageCount: number; fileCount: number; sizeBytes: number },
): ContentEvent[] {
  const { contentVersion, label } = published;
  const isLatest = state?.latest === contentVersion && isKnown(state, contentVersion);
  if (isLatest && (label === undefined || labelled(state, label) === contentVersion)) return [];
  return [{ type: 'ContentPublished', version: 1, data: published }];
}

export function promoteContent(state: ContentState | undefined, identity: ContentId): ContentEvent[] {
  if (!isKnown(state, identity.contentVersion)) throw noSuchContent(identity);
  if (state?.latest === identity.contentVersion) return [];
  return [{ type: 'ContentPromoted', version: 1, data: identity }];
}

export function deleteContent(state: ContentState | undefined, identity: ContentId): ContentEvent[] {
  const { contentVersion } = identity;
  if (!isKnown(state, contentVersion)) throw noSuchContent(identity);
  if (state?.latest === contentVersion) {
    throw new ApiError(
      'in_use',
      `${contentVersion} is the latest content of "${identity.domain}". Promote another version first.`,
    );
  }
  const label = Object.entries(state?.labels ?? {}).find(([, target]) => target === contentVersion)?.[0];
  if (label !== undefined) {
    throw new ApiError(
      'in_use',
      `${contentVersion} has the label "${label}". Publish another version under that label first.`,
    );
  }
  return [{ type: 'ContentDeleted', version: 1, data: identity }];
}

export function isKnown(state: ContentState | undefined, contentVersion: string): boolean {
  return state?.versions.some((version) => version.contentVersion === contentVersion) ?? false;
}

const labelled = (state: ContentState | undefined, label: string): string | undefined =>
  state !== undefined && Object.hasOwn(state.labels, label) ? state.labels[label] : undefined;

const noSuchContent = ({ contentVersion, domain }: ContentId): ApiError =>
  new ApiError('not_found', `There is no content version "${contentVersion}" in the domain "${domain}".`);

/**
 * The version that has to be indexed, if any: the latest one, unless it is searched already. A version that is no longer the latest
 * is left out, because the event of the newer one follows; `ContentPromoted` brings it back if it is needed again. Pure.
 */
export function versionToIndex(state: ContentState): string | undefined {
  const { latest, searched } = state;
  return latest === undefined || latest === searched ? undefined : latest;
}

/** What to append once `contentVersion` has `passageCount` passages in the index; nothing when it is no longer wanted. Pure. */
export function markIndexed(state: ContentState, contentVersion: string, passageCount: number): ContentEvent[] {
  if (versionToIndex(state) !== contentVersion) return [];
  const { organization, domain } = state;
  return [{ type: 'ContentIndexed', version: 1, data: { organization, domain, contentVersion, passageCount } }];
}
