import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';

/**
 * Opens a regular file of at most `mostBytes`. `body` ends at the size that the file has now, because reading a file that grows would never end.
 * Rejects with `BundleRefused` for anything else: opening a pipe waits for a writer, which may never come. The kind is checked on the open file,
 * because another one may take its place after a check by name.
 */
export async function readRegularFile(file: string, mostBytes: number): Promise<{ size: number; body: Readable }> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new BundleRefused(`${file} is not a file`);
    if (found.size > mostBytes)
      throw new BundleRefused(`${file} has ${found.size} bytes, and at most ${mostBytes} are allowed`);
    if (found.size === 0) {
      await handle.close();
      return { size: 0, body: Readable.from([]) };
    }
    return { size: found.size, body: handle.createReadStream({ start: 0, end: found.size - 1 }) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** SHA-256 of a regular file. Rejects as `readRegularFile`. */
export async function sha256OfFile(file: string, mostBytes: number): Promise<string> {
  return await sha256OfStream((await readRegularFile(file, mostBytes)).body);
}
