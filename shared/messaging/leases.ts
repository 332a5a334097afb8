/**
 * One holder per role at a time, by a key that ends unless it is renewed. A holder that was paused may still believe in it for a
 * moment: the guard on the log is the real fence, the lease only keeps two from doing the same work.
 */
export type Leases = {
  /** Waits until the role is free and taken. `lost` aborts when renewing failed or the holder was too late. Rejects when `signal` aborts. */
  acquire(role: string, holder: string, signal: AbortSignal): Promise<HeldLease>;
};

export type HeldLease = {
  lost: AbortSignal;
  /** Gives the role back at once, so that a spare need not wait for the key to end. */
  release(): Promise<void>;
};
