/** The command was called in a way in which it can do nothing. The process ends with `exitStatus`. */
export class WrongUse extends Error {
  override name = 'WrongUse';
  readonly exitStatus = 2;
}
