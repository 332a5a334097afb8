/**
 * An expression that is left out because it cannot be evaluated without running it. `message` is the end of a sentence that starts with
 * what it was: "is a call of `fetch`".
 */
export class NotStatic extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
