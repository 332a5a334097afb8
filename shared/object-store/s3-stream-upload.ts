import { addAbortSignal, type Readable } from 'node:stream';
import type { ObjectDescription } from './object-description.ts';
import { cutIntoParts } from './cut-into-parts.ts';
import { type MultipartUpload, startMultipartUpload } from './s3-multipart-upload.ts';
import type { S3Objects } from './s3-objects.ts';

/** S3 takes parts of 5 MiB to 5 GiB, and 10,000 of them: enough for 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
/** On their way at once; with the one that is being filled, 24 MiB are in memory. */
const PARTS_IN_FLIGHT = 2;

/**
 * Stores a stream of any length in bounded memory. Whatever fails, the parts are removed before this rejects and the key is as it was;
 * the stream is destroyed then.
 */
export async function s3StreamUpload(
  s3: S3Objects,
  key: string,
  body: Readable,
  description: ObjectDescription,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal !== undefined) addAbortSignal(signal, body);
  const inFlight = new Set<Promise<void>>();
  let upload: MultipartUpload | undefined;
  try {
    for await (const { bytes, last } of cutIntoParts(body, PART_BYTES)) {
      if (last && upload === undefined) return await s3.put(key, bytes, description, { signal });
      upload ??= await startMultipartUpload(s3, key, description, signal);
      const sending = upload.send(bytes);
      inFlight.add(sending);
      // Without this a stream that pauses would hide the failure until its next bytes.
      sending.then(
        () => inFlight.delete(sending),
        (error: Error) => body.destroy(error),
      );
      if (inFlight.size >= PARTS_IN_FLIGHT) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
    await upload?.complete();
  } catch (error) {
    body.destroy();
    // A part that arrives after the abort would stay for ever.
    await Promise.allSettled(inFlight);
    await upload?.abort();
    if (signal?.aborted) throw signal.reason;
    throw error;
  }
}
