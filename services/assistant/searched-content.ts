import { contentsKey } from '#shared/contracts/read-model-keys.ts';
import type { Bus } from '#shared/bus/bus.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import type { SearchScope } from '#shared/search/search-index.ts';

/** The content version of the caller's domain that is searched; undefined until one has been indexed. */
export async function searchedContent(
  contents: Bus['documents']['directoryContents'],
  caller: Caller,
): Promise<SearchScope | undefined> {
  const { organization, domain } = caller;
  const stored = await contents.get(contentsKey(organization, domain));
  const contentVersion = stored?.document.state.searched;
  return contentVersion === undefined ? undefined : { organization, domain, contentVersion };
}

/** Groups that count for this request: in a `signed` domain nobody gets into a group by naming it. */
export function trustedGroups(caller: Caller, claimed: readonly string[] | null | undefined): readonly string[] {
  return caller.groupTrust === 'claimed' ? (claimed ?? []) : [];
}
