import { UnreadableDocument } from './parse-message.ts';
import type { StoredDocument } from './read-models.ts';

/** A document that is about to be written: what it says, and the revision to write over (0: there is none). */
export type MadeAnew<T> = { document: T | undefined; revision: number };

/**
 * What was read of a document that can be made anew. One that cannot be read counts as absent and is written over: it was damaged, or a newer
 * version wrote it before the installation went back to this one. `onUnreadable` hears of it. Rejects as `read` does otherwise.
 */
export async function madeAnew<T>(
  read: Promise<StoredDocument<T> | undefined>,
  onUnreadable: (error: UnreadableDocument) => void,
): Promise<MadeAnew<T>> {
  try {
    const stored = await read;
    return { document: stored?.document, revision: stored?.revision ?? 0 };
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    onUnreadable(error);
    return { document: undefined, revision: error.revision };
  }
}
