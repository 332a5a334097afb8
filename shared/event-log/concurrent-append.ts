/** Somebody else appended to the aggregate first. Load it again, decide again. */
export class ConcurrentAppend extends Error {
  override name = 'ConcurrentAppend';
  readonly subject: string;

  constructor(subject: string) {
    super(`${subject} has a newer commit than the one this decision was made on: load it again and decide again.`);
    this.subject = subject;
  }
}
