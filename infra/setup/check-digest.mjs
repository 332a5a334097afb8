import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { StepFailed } from './step.mjs';

/** @throws StepFailed when the file's SHA-256 is not the pinned one. */
export async function checkDigest(file, pinned, what) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found === pinned) return;
  throw new StepFailed(`${what} has SHA-256 ${found}, not the pinned ${pinned}: it was not used`);
}
