/** A message whose type or version this program does not know. Skipping it would fold a hole into the state, so the reader stops. */
export class UnknownEvent extends Error {
  override name = 'UnknownEvent';
}
