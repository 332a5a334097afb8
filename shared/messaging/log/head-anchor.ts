import { createHmac } from 'node:crypto';
import { canonicalJson } from '#shared/runtime/canonical-json.ts';
import { isSameSecret } from '#shared/runtime/same-secret.ts';

/** The last commit of a history when it was observed. */
export type Head = { revision: number; commitId: string; hash: string };

/**
 * The content that an anchor confirms: the history had this head and, before it, the `lost` commits, which were missing from the log when the anchor
 * was made.
 */
export type AnchoredHead = Head & { lost?: readonly Omit<Head, 'hash'>[] | undefined };

/**
 * The anchor of a history's head: HMAC-SHA-256 with the audit key, as 64 hex digits. Hashes chain all earlier commits to the head, so a
 * history that is rewritten without the key has no valid anchor. Writers of logs do not have the key.
 */
export function anchorOf(auditKey: string, subject: string, { revision, commitId, hash, lost }: AnchoredHead): string {
  return createHmac('sha256', auditKey)
    .update(canonicalJson({ subject, revision, commitId, hash, lost }))
    .digest('hex');
}

/** The anchor of one record that is not part of a hash chain. */
export function recordAnchorOf(auditKey: string, record: { id: string }): string {
  return createHmac('sha256', auditKey).update(canonicalJson({ record })).digest('hex');
}

/** True if the anchor was made with this key for this head of the subject. */
export const isAnchor = (auditKey: string, anchor: string, subject: string, head: AnchoredHead): boolean =>
  isSameSecret(anchor, anchorOf(auditKey, subject, head));
