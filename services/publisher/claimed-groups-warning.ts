import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { PageEntry } from '#shared/docs-project/site-model.ts';

/** Says that restricted pages are open to whoever names their groups, on a domain that trusts what callers claim. Pure. */
export function claimedGroupsWarning(
  pages: readonly Pick<PageEntry, 'file' | 'groups'>[],
  groupTrust: 'claimed' | 'signed',
): Diagnostic[] {
  const restricted = pages.filter(({ groups }) => groups.length > 0);
  const first = restricted[0];
  if (groupTrust === 'signed' || first === undefined) return [];
  const count = restricted.length === 1 ? 'This page is' : `This page and ${restricted.length - 1} more are`;
  return [
    {
      severity: 'warning',
      code: 'claimed-groups',
      message: `${count} restricted to groups, but this domain takes the groups that a caller of the assistant claims to be in. Have the operator set the domain's "groups" to "signed" to keep them closed.`,
      file: first.file,
    },
  ];
}
