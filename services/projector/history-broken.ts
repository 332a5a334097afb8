/** Commits of an aggregate are missing, swapped or changed: its documents stay as they are until someone looks. */
export class HistoryBroken extends Error {
  override name = 'HistoryBroken';

  constructor(subject: string, lastGoodRevision: number, revision: number) {
    super(`The history of ${subject} is broken: revision ${revision} does not follow revision ${lastGoodRevision}.`);
  }
}
