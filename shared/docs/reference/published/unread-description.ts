/* API descriptions that cannot be read. A service decides about them without loading the parsers. */

/** The content of a description for a bundle, if it cannot be read and may have parts that not everybody may read. */
export const unreadDescription: Uint8Array = Buffer.from('{}\n');

/** Maximum length of the keys that `mayRestrict` finds, in any encoding. */
export const longestRestrictingKey = 20;

/** True if these bytes of a description name a key that restricts parts of it. */
export const mayRestrict = (bytes: Uint8Array): boolean =>
  // UTF-16 has a zero beside each of these letters.
  /x-excluded|x-hidden|x-mint/.test(Buffer.from(bytes).toString('latin1').replaceAll('\0', ''));
