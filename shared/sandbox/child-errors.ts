/** The child did not answer within its deadline and was killed. */
export class ChildTimedOut extends Error {
  override name = 'ChildTimedOut';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`not finished within ${deadlineMs} ms, so its process was killed`);
    this.deadlineMs = deadlineMs;
  }
}

/** The child's process ended before it answered: memory, a native crash, an exit. */
export class ChildDied extends Error {
  override name = 'ChildDied';
  /** Exit code, or undefined when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;

  constructor(exitCode: number | undefined, signal: string | undefined, detail = '') {
    const how = signal ? `signal ${signal}` : `exit code ${exitCode ?? 'unknown'}`;
    super(`its process ended with ${how}${detail && `: ${detail}`}`);
    this.exitCode = exitCode;
    this.signal = signal;
  }
}

/** The child is well, but what it was asked to do threw. `code` and message are those of the error there. */
export class ChildRequestFailed extends Error {
  override name = 'ChildRequestFailed';
  readonly originalName: string;

  constructor(originalName: string, message: string) {
    super(message);
    this.originalName = originalName;
  }
}
