/** A page that cannot be rendered: it breaks a limit. `reason` is a sentence for its author. */
export class PageFailed extends Error {
  readonly code: string;
  readonly reason: string;

  /** `what` is the end of a sentence about the page: "it has more than 50000 nodes". */
  constructor(code: string, what: string) {
    const reason = `The page cannot be rendered (${code}): ${what}.`.replace(/\.\.$/, '.').slice(0, 300);
    super(reason);
    this.name = 'PageFailed';
    this.code = code;
    this.reason = reason;
  }
}
