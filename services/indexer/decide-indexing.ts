import type { ContentEvent, ContentState } from '#shared/contracts/content-events.ts';

/**
 * The version that has to be made searchable, if any: the latest, unless it is searched already. A version that a newer one has overtaken
 * is left out, as the newer one's event follows; its own comes back with `ContentPromoted` if it is ever needed. Pure.
 */
export function versionToIndex(state: ContentState): string | undefined {
  const { latest, searched } = state;
  return latest === undefined || latest === searched ? undefined : latest;
}

/** What to append once `contentVersion` has `passageCount` passages in the index; nothing when it is no longer wanted. Pure. */
export function indexed(state: ContentState, contentVersion: string, passageCount: number): ContentEvent[] {
  if (versionToIndex(state) !== contentVersion) return [];
  const { organization, domain } = state;
  return [{ type: 'ContentIndexed', version: 1, data: { organization, domain, contentVersion, passageCount } }];
}
