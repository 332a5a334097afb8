import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** What arrived is not what the server said it would be. Nothing is left under the wanted name. */
export class DigestMismatch extends Error {
  override name = 'DigestMismatch';
}

/**
 * Streams a bundle into `file` while hashing it; it appears under that name only when size and SHA-256 are right.
 * `onBytes` is told how many bytes have arrived.
 */
export async function downloadBundle(
  link: { bundleUrl: string; sizeBytes: number; sha256: string },
  file: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  const response = await fetch(link.bundleUrl);
  if (!response.ok || response.body === null)
    throw new Error(`The bundle's link answered ${response.status}. Ask for a fresh link and try again.`);
  const hash = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      onBytes(bytes);
      done(null, chunk);
    },
  });
  const unfinished = `${file}.part`;
  try {
    await pipeline(Readable.fromWeb(response.body), meter, createWriteStream(unfinished));
    const sha256 = hash.digest('hex');
    if (bytes !== link.sizeBytes || sha256 !== link.sha256) {
      throw new DigestMismatch(
        `The download has ${bytes} bytes and SHA-256 ${sha256}, but the server announced ${link.sizeBytes} bytes and ${link.sha256}. Download it again.`,
      );
    }
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}
