/**
 * Frees the memory of bytes at once; they and everything that shares their memory are empty afterwards. V8 counts memory outside its heap until it
 * has collected the owners, and marks the whole heap for each 64 MB of it. In a process that keeps the model of a large site, that takes as long as
 * the work itself. Small bytes share the memory of others, so they are left alone.
 */
export function freeBytes({ buffer, byteOffset }: Uint8Array): void {
  if (byteOffset === 0 && buffer instanceof ArrayBuffer && buffer.byteLength >= leastFreed) buffer.transfer(0);
}

/** Size from which a buffer is freed. It is larger than the pool from which Node takes small buffers. */
const leastFreed = 128 * 1024;
