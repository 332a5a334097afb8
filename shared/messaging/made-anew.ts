import { isUnreadable, type NewerDocument, type UnreadableDocument } from './parse-message.ts';
import type { StoredDocument } from './read-models.ts';

/** A document to write over: its current content, and the revision that the write expects (0: there is none). */
export type MadeAnew<T> = { document: T | undefined; revision: number };

/**
 * Reads a document that can be rebuilt. An unreadable document counts as absent and is overwritten: it was damaged, or a newer version
 * wrote it before a downgrade. `onUnreadable` is called with the error. Any other rejection of `read` is passed on.
 */
export async function madeAnew<T>(
  read: Promise<StoredDocument<T> | undefined>,
  onUnreadable: (error: UnreadableDocument | NewerDocument) => void,
): Promise<MadeAnew<T>> {
  try {
    const stored = await read;
    return { document: stored?.document, revision: stored?.revision ?? 0 };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    onUnreadable(error);
    return { document: undefined, revision: error.revision };
  }
}
