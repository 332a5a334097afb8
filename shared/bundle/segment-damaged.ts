/** A segment is missing or not what its sidecar says. It has to be rendered again; the bundle was not made. */
export class SegmentDamaged extends Error {
  override name = 'SegmentDamaged';
  /** Of the segment, as given to the join. */
  readonly key: string;
  /** Place in the bundle, from 0. */
  readonly index: number;

  constructor(key: string, index: number, reason: string) {
    super(`segment ${key} (number ${index + 1} of the bundle) ${reason}: it must be rendered again`);
    this.key = key;
    this.index = index;
  }
}
