/**
 * Changes of the `job-status` read model as the server republishes them: one subscription per gateway process,
 * however many clients watch. Delivery is at most once; whoever watches reads the document first.
 */
export type LiveUpdates = {
  /** Calls `listener` with the raw document of every changed key until the returned function is called. */
  onJobStatus(listener: (update: { key: string; document: unknown }) => void): () => void;
};
