import type { ContentId } from '#shared/contracts/identifiers.ts';
import type { PublicationSource } from '#shared/contracts/publication-source.ts';
import { ApiError } from '#shared/http/errors.ts';
import { type ContentEvent, type ContentState, mostLabels, mostVersions } from './content.ts';

/**
 * The decisions about a domain's content. Pure: each throws the `ApiError` that the caller receives. An empty list of events means that
 * nothing changes.
 */

/**
 * Publishing the same files again changes nothing unless another version is the latest, or the label names another version. If the domain then has
 * too many versions, the oldest unused ones end. Throws `too_many_labels` for a new label beyond the limit.
 */
export function publishContent(
  state: ContentState | undefined,
  published: ContentId & {
    label?: string;
    labelOnly?: true;
    pageCount: number;
    fileCount: number;
    sizeBytes: number;
    source?: PublicationSource;
  },
): ContentEvent[] {
  const { contentVersion, label, labelOnly = false } = published;
  const isLatest = labelOnly || state?.latest === contentVersion;
  const isAsBefore = isLatest && isKnown(state, contentVersion);
  if (isAsBefore && (label === undefined || (state !== undefined && labelled(state, label) === contentVersion)))
    return [];
  if (state !== undefined && label !== undefined && labelled(state, label) === undefined) checkRoomForLabel(state);
  return [{ type: 'ContentPublished', version: 1, data: published }, ...endSurplus(state, published)];
}

function checkRoomForLabel({ labels, domain }: ContentState): void {
  const count = Object.keys(labels).length;
  if (count < mostLabels) return;
  throw new ApiError(
    'too_many_labels',
    `The domain "${domain}" has ${count} labels, and ${mostLabels} is the maximum. Remove one that nobody needs (DELETE /v1/domains/${domain}/content/labels/<label>, or "bindery contents ${domain} --unlabel <label>"), or publish under an existing label.`,
  );
}

function endSurplus(state: ContentState | undefined, published: ContentId & { label?: string }): ContentEvent[] {
  const { organization, domain, contentVersion, label } = published;
  const others = (state?.versions ?? []).filter((version) => version.contentVersion !== contentVersion);
  const labels = { ...state?.labels, ...(label === undefined ? {} : { [label]: contentVersion }) };
  const used = new Set([state?.searched, state?.latest, ...Object.values(labels)]);
  const contentVersions = others
    .map((version) => version.contentVersion)
    .filter((version) => !used.has(version))
    .slice(0, Math.max(0, others.length + 1 - mostVersions));
  if (contentVersions.length === 0) return [];
  return [{ type: 'ContentsEnded', version: 1, data: { organization, domain, contentVersions } }];
}

/** Removes a label; its content version is kept. Throws `not_found`. */
export function removeLabel(
  state: ContentState | undefined,
  { organization, domain, label }: Omit<ContentId, 'contentVersion'> & { label: string },
): ContentEvent[] {
  const contentVersion = labelled(state, label);
  if (contentVersion === undefined) {
    throw new ApiError('not_found', `There is no label "${label}" in the domain "${domain}".`);
  }
  return [{ type: 'LabelRemoved', version: 1, data: { organization, domain, contentVersion, label } }];
}

/** Makes a version the latest one; no event if it is that already. Throws `not_found` for an unknown version. */
export function promoteContent(state: ContentState | undefined, identity: ContentId): ContentEvent[] {
  if (!isKnown(state, identity.contentVersion)) throw noSuchContent(identity);
  if (state?.latest === identity.contentVersion) return [];
  return [{ type: 'ContentPromoted', version: 1, data: identity }];
}

/** Deletes a version, also one that has ended. Throws `not_found` for an unknown version, and `in_use` for the latest or a labelled one. */
export function deleteContent(state: ContentState | undefined, identity: ContentId): ContentEvent[] {
  const { contentVersion } = identity;
  if (!isKnown(state, contentVersion) && !hasEnded(state, contentVersion)) throw noSuchContent(identity);
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
      `${contentVersion} has the label "${label}". Remove the label, or publish another version under it first.`,
    );
  }
  return [{ type: 'ContentDeleted', version: 1, data: identity }];
}

/** True if the domain has this content version, and it has not ended. */
export function isKnown(state: ContentState | undefined, contentVersion: string): boolean {
  return state?.versions.some((version) => version.contentVersion === contentVersion) ?? false;
}

/**
 * True if the version ended because there were too many. It was not deleted by a request, so it may be exported again while its objects
 * exist.
 */
export function hasEnded(state: ContentState | undefined, contentVersion: string): boolean {
  return state?.ended?.includes(contentVersion) ?? false;
}

const labelled = (state: ContentState | undefined, label: string): string | undefined =>
  state !== undefined && Object.hasOwn(state.labels, label) ? state.labels[label] : undefined;

const noSuchContent = ({ contentVersion, domain }: ContentId): ApiError =>
  new ApiError('not_found', `There is no content version "${contentVersion}" in the domain "${domain}".`);

/**
 * The version that has to be indexed: the latest one, unless it is searched already. A version that is no longer the latest is left out,
 * because the event of the newer one follows; `ContentPromoted` brings it back if it is needed again. Pure.
 */
export function versionToIndex(state: ContentState): string | undefined {
  const { latest, searched } = state;
  return latest === undefined || latest === searched ? undefined : latest;
}

/**
 * The events to append once `contentVersion` has `passageCount` passages in the index; none when the version no longer needs to be indexed.
 * Pure.
 */
export function markIndexed(state: ContentState, contentVersion: string, passageCount: number): ContentEvent[] {
  if (versionToIndex(state) !== contentVersion) return [];
  const { organization, domain } = state;
  return [{ type: 'ContentIndexed', version: 1, data: { organization, domain, contentVersion, passageCount } }];
}
