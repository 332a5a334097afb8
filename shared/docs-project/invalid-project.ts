/** The files are no docs project, or break a rule that makes publishing pointless. The message names file and field, for the author. */
export class InvalidProject extends Error {
  override name = 'InvalidProject';
  readonly code: string;
  readonly file: string;

  constructor(code: string, file: string, message: string) {
    super(message);
    this.code = code;
    this.file = file;
  }
}
