/*
 * Sets of chunk numbers in the job's state: one bit per chunk, least significant bit of each byte first, base64. 1,250 chunks take 212
 * characters.
 */

/** The bitmap of these chunk numbers. */
export function bitmapOf(chunks: readonly number[]): string {
  const last = chunks.reduce((most, chunk) => Math.max(most, chunk), -1);
  const bytes = Buffer.alloc((last >> 3) + 1);
  for (const chunk of chunks) bytes[chunk >> 3] = (bytes[chunk >> 3] ?? 0) | (1 << (chunk & 7));
  return bytes.toString('base64');
}

export function hasChunk(bitmap: string, chunk: number): boolean {
  return isSet(Buffer.from(bitmap, 'base64'), chunk);
}

/** The set with one more chunk. `chunkCount`: number of chunks in the plan, which decides the length of the bitmap. */
export function withChunk(bitmap: string, chunk: number, chunkCount: number): string {
  const bytes = Buffer.alloc(Math.ceil(chunkCount / 8));
  Buffer.from(bitmap, 'base64').copy(bytes);
  bytes[chunk >> 3] = (bytes[chunk >> 3] ?? 0) | (1 << (chunk & 7));
  return bytes.toString('base64');
}

/** The union of two bitmaps. */
export function withChunks(bitmap: string, others: string, chunkCount: number): string {
  const bytes = Buffer.alloc(Math.ceil(chunkCount / 8));
  Buffer.from(bitmap, 'base64').copy(bytes);
  const added = Buffer.from(others, 'base64');
  for (const [at, byte] of bytes.entries()) bytes[at] = byte | (added[at] ?? 0);
  return bytes.toString('base64');
}

/** The numbers of a set, ascending. */
export function chunksIn(bitmap: string): number[] {
  const bytes = Buffer.from(bitmap, 'base64');
  return Array.from({ length: bytes.length * 8 }, (_, chunk) => chunk).filter((chunk) => isSet(bytes, chunk));
}

export function withoutChunk(bitmap: string, chunk: number): string {
  const bytes = Buffer.from(bitmap, 'base64');
  bytes[chunk >> 3] = (bytes[chunk >> 3] ?? 0) & ~(1 << (chunk & 7));
  return bytes.toString('base64');
}

export function countChunks(bitmap: string): number {
  let count = 0;
  for (let byte of Buffer.from(bitmap, 'base64')) for (; byte > 0; byte &= byte - 1) count += 1;
  return count;
}

/** Chunk numbers below `chunkCount` that are in none of the bitmaps, ascending. */
export function chunksOutside(chunkCount: number, ...bitmaps: string[]): number[] {
  const decoded = bitmaps.map((bitmap) => Buffer.from(bitmap, 'base64'));
  const outside: number[] = [];
  for (let chunk = 0; chunk < chunkCount; chunk += 1) {
    if (!decoded.some((bytes) => isSet(bytes, chunk))) outside.push(chunk);
  }
  return outside;
}

const isSet = (bytes: Buffer, chunk: number): boolean => (((bytes[chunk >> 3] ?? 0) >> (chunk & 7)) & 1) === 1;
