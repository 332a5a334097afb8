/** Where a message goes that a reader cannot handle, with the reason; kept for an operator (90 days). */
export type DeadLetters = {
  put(letter: DeadLetter): Promise<void>;
};

export type DeadLetter = {
  service: string;
  stream: string;
  subject: string;
  sequence: number;
  /** A sentence. */
  reason: string;
};
