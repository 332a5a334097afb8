import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { BusPartMissing } from '../bus.ts';
import type { BucketMark } from '../read-models.ts';
import { isStreamMissing, whileAway } from './connection.ts';

const deadlineMs = 5_000;
/** Documents of a marked bucket have keys of two parts, so none has this key. */
const key = '_mark';

/**
 * A mark of a bucket. It is stored as a tombstone that does not expire, because programs of every version leave tombstones out when they list documents:
 * an earlier version neither reads it as a document nor removes it.
 */
export function natsBucketMark(
  { js, jsm }: { js: JetStreamClient; jsm: JetStreamManager },
  bucket: string,
): BucketMark {
  const stream = `KV_${bucket}`;
  const subject = `$KV.${bucket}.${key}`;
  const call = <R>(what: string, run: () => Promise<R>) =>
    whileAway(`${what} the mark of the bucket ${bucket}`, deadlineMs, () =>
      run().catch(async (error: unknown) => {
        const isMissing = await isStreamMissing(error, jsm, stream);
        throw isMissing ? new BusPartMissing(`bucket "${bucket}"`, { cause: error }) : error;
      }),
    );
  return {
    async isSet() {
      const message = await call('reading', () => jsm.streams.getMessage(stream, { last_by_subj: subject }));
      return message !== null;
    },
    async set() {
      const tombstone = headers();
      tombstone.set('KV-Operation', 'DEL');
      await call('writing', () => js.publish(subject, '', { headers: tombstone }));
    },
  };
}
