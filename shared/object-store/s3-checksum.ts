import { crc32 } from 'node:zlib';

/** CRC-32 as S3 writes it: four bytes, big end first, base64. */
export function s3Checksum(bytes: Uint8Array): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes));
  return checksum.toString('base64');
}
