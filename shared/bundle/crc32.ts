import { crc32 as zlibCrc32 } from 'node:zlib';

/** CRC-32 as gzip has it (an unsigned 32-bit number). Give the value so far as `previous` to go on over further bytes. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  return zlibCrc32(bytes, previous);
}
