import type { ArchivedJob } from '#shared/contracts/stored-objects.ts';
import { canonicalJson, jsonIn } from '#shared/runtime/canonical-json.ts';
import type { ChainProblem } from '#shared/messaging/log/commit-chain.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import { type Head, isAnchor } from '#shared/messaging/log/head-anchor.ts';
import type { Seen, VerifiedLog } from './verified-logs.ts';

/** A history and the independent records of its last commit. */
export type Witnessed = {
  subject: string;
  messages: readonly StoredText[];
  /** The read model's record of the last commit. */
  seen?: Seen | undefined;
  /** The fields that the archive keeps with it. */
  archived?: Pick<ArchivedJob, 'anchor' | 'lost'> | undefined;
};

/** Settings of the check of anchors. */
export type AnchorCheck = {
  auditKey: string;
  /** A history whose last commit is older may have no anchor, because it predates anchors. */
  unanchoredBefore?: Date | undefined;
};

/**
 * Compares a history with the last commit seen of it: the chain of a history that was cut or rewritten looks whole. Without `check` the
 * anchors are not verified. Pure.
 */
export function verifyHead(
  kind: Pick<VerifiedLog, 'stateAfter'>,
  { subject, messages, seen, archived }: Witnessed,
  check: AnchorCheck | undefined,
): ChainProblem[] {
  const commits = messages.map((message) => ({ ...message, head: headOf(message) }));
  const last = commits.at(-1);
  const problem = (problem: ChainProblem['problem'], revision: number, message: string): ChainProblem => {
    const sequence = (commits.find(({ head }) => head?.revision === revision) ?? last)?.sequence ?? 0;
    return { problem, subject, sequence, revision, message };
  };
  const problems: ChainProblem[] = [];
  if (seen !== undefined) {
    const at = commits.find(({ head }) => head?.commitId === seen.commitId);
    if (at === undefined) {
      const isOther = commits.some(({ head }) => head?.revision === seen.revision);
      const message = isOther
        ? `A read model has seen another commit with this revision (${seen.commitId}).`
        : `The read model has seen revision ${seen.revision} (${seen.commitId}), which is missing.`;
      problems.push(problem('hole', seen.revision, message));
    } else if (seen.hash !== undefined && seen.hash !== at.head?.hash) {
      const message = 'The read model has seen this commit with another hash: the history was rewritten.';
      problems.push(problem('changed', seen.revision, message));
    } else if (!isStateOf(kind, at.text, seen.state)) {
      problems.push(problem('wrong-state', seen.revision, 'The read model shows another state than this commit has.'));
    }
  }
  for (const { revision, commitId, hash } of seen?.lost ?? archived?.lost ?? []) {
    const isThere = commits.some(({ head }) => head?.commitId === commitId && head.hash === (hash ?? head.hash));
    if (isThere) continue;
    problems.push(problem('hole', revision, `The read model had seen ${commitId} here before the log lost it.`));
  }
  const unanchored = check === undefined ? undefined : unanchoredReason(subject, last, seen, archived, check);
  if (unanchored !== undefined) problems.push(problem('unanchored', last?.head?.revision ?? 0, unanchored));
  return problems;
}

/** The reason why no anchor covers the last commit; undefined when one does. */
function unanchoredReason(
  subject: string,
  last: (StoredText & { head: Head | undefined }) | undefined,
  seen: Witnessed['seen'],
  archived: Witnessed['archived'],
  { auditKey, unanchoredBefore }: AnchorCheck,
): string | undefined {
  if (seen?.anchor !== undefined && seen.hash !== undefined) {
    const { anchor, revision, commitId, hash, lost } = seen;
    if (!isAnchor(auditKey, anchor, subject, { revision, commitId, hash, lost })) {
      return 'The anchor in the read model was not made with this audit key.';
    }
  }
  const head = last?.head;
  // A missing or unreadable last message is reported elsewhere.
  if (head === undefined || last === undefined) return undefined;
  if (archived?.anchor !== undefined) {
    if (isAnchor(auditKey, archived.anchor, subject, { ...head, lost: archived.lost })) return undefined;
    return 'The anchor in the archive belongs to another history, or was not made with this audit key.';
  }
  if (seen?.anchor !== undefined && seen.revision >= head.revision) return undefined;
  if (unanchoredBefore !== undefined && timeOf(last) < unanchoredBefore.getTime()) return undefined;
  if (seen?.anchor === undefined) return 'It has no anchor. A history that predates anchors gets one in a rebuild.';
  return `No anchor covers the commits after revision ${seen.revision}: no projector runs, or an old document was restored.`;
}

function isStateOf(kind: Pick<VerifiedLog, 'stateAfter'>, text: string, state: unknown): boolean {
  try {
    return canonicalJson(kind.stateAfter(text)) === canonicalJson(state);
  } catch {
    // An unreadable message is reported elsewhere.
    return true;
  }
}

/** The head that a message names; undefined when there is no message or it is not a commit. `verifyChain` checks whether it is true. */
export function headOf(message: StoredText | undefined): Head | undefined {
  const { id, revision, hash } = fieldsOf(message);
  const isHead = typeof id === 'string' && typeof revision === 'number' && typeof hash === 'string';
  return isHead ? { revision, commitId: id, hash } : undefined;
}

const timeOf = (message: StoredText): number => Date.parse(String(fieldsOf(message).time));

const fieldsOf = (message: StoredText | undefined): Record<string, unknown> => ({
  ...(jsonIn(message?.text ?? '') as object | undefined),
});
