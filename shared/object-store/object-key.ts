const MAX_KEY_BYTES = 900;
/** File systems allow 255 bytes, and both adapters of folders need a few of their own. */
const MAX_SEGMENT_BYTES = 200;

/** Throws a sentence when `key` breaks the rules of `ObjectStore`. The rules are all that keeps a folder's keys inside the folder. */
export function checkObjectKey(key: string): void {
  const problem = keyProblem(key);
  if (problem !== undefined) throw new Error(`the object key ${JSON.stringify(key)} ${problem}`);
}

/** Throws as `checkObjectKey`. A prefix may end anywhere in a key, also in the middle of a segment; '' is every key. */
export function checkObjectPrefix(prefix: string): void {
  // Whatever the last segment begins with, it only filters names: complete it to a segment that is one.
  checkObjectKey(`${prefix}x`);
}

function keyProblem(key: string): string | undefined {
  if (key.length > MAX_KEY_BYTES) return `is longer than ${MAX_KEY_BYTES} bytes`;
  for (const segment of key.split('/')) {
    if (segment === '') return 'has an empty segment';
    if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
    if (segment.length > MAX_SEGMENT_BYTES) return `has a segment longer than ${MAX_SEGMENT_BYTES} bytes`;
    if (!/^[A-Za-z0-9._~!+@=,() -]+$/.test(segment))
      return 'has a character other than A-Z a-z 0-9 . _ ~ ! + @ = , ( ) - and space';
  }
  return undefined;
}
