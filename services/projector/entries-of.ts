import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { Commit, CommitEvent } from '#shared/contracts/commit.ts';

/** What an entry says; the rest comes from the commit. `actor` where it was somebody else than who committed. */
export type Said = Omit<AuditEntry, 'id' | 'time' | 'actor' | 'commit'> & Partial<Pick<AuditEntry, 'actor'>>;

/** The entries of one commit, with ids that depend on it alone. Pure. */
export function entriesOf<E extends CommitEvent>(
  { id, time, actor, subject, revision, data }: Commit<E>,
  say: (event: E) => Said[],
): AuditEntry[] {
  return data.events
    .flatMap(say)
    .map((said, index) => ({ id: `${id}.${index}`, time, actor, ...said, commit: { subject, revision, id } }));
}

const longestText = 200;

/** The beginning of a text that others wrote, so that entries stay small. Pure. */
export function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText - 1).toWellFormed()}…`;
}
