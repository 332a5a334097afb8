/**
 * Frees the memory of bytes at once; they and everything that shares their memory are empty then. V8 counts memory outside of its heap until it has
 * collected its owners, and marks the whole heap for each 64 MB of it: in a process that keeps the model of a large site, that takes as long as the work.
 * Small bytes share the memory of others, so they are left alone.
 */
export function freeBytes({ buffer, byteOffset }: Uint8Array): void {
  if (byteOffset === 0 && buffer instanceof ArrayBuffer && buffer.byteLength >= leastFreed) buffer.transfer(0);
}

/** More than the pool from which Node takes small buffers. */
const leastFreed = 128 * 1024;
