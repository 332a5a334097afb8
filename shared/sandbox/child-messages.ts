/** What parent and child say to each other, over the process channel with structured clone: bytes stay bytes. */
export type ToChild =
  | { kind: 'request'; id: number; request: unknown }
  | { kind: 'answer'; question: number; answer: unknown }
  | { kind: 'no-answer'; question: number; message: string };

export type FromChild =
  /** `pid`: its own; the parent started a shell that guards it. */
  | { kind: 'ready'; pid: number }
  | { kind: 'question'; id: number; question: number; content: unknown }
  | { kind: 'response'; id: number; response: unknown }
  | { kind: 'failure'; id: number; name: string; message: string };
