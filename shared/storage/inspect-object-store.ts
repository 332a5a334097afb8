import { buffer } from 'node:stream/consumers';
import { clockFinding, fault, type Finding, good, warning } from '#shared/runtime/finding.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from './object-store.ts';

const linkSeconds = 60;
const linkWithinMs = 5_000;

/**
 * Checks that objects can be written, read, linked to and removed, and leaves nothing behind. `followLinks`: links lead to the store, and
 * one is followed as by a client.
 */
export async function inspectObjectStore(
  store: ObjectStore,
  { where, followLinks }: { where: string; followLinks: boolean },
): Promise<Finding[]> {
  const key = `inspection/${randomBase62(16)}`;
  const body = Buffer.from(`Written by an inspection, ${new Date().toISOString()}`);
  const startedAt = performance.now();
  try {
    await store.put(key, body, { contentType: 'text/plain' });
    const stream = await store.getStream(key);
    if (stream === undefined || !body.equals(await buffer(stream))) {
      return [
        fault(
          `The object store at ${where} does not return an object right after it was written.`,
          'Bindery needs read after write. Use a store that promises it, as S3 does.',
        ),
      ];
    }
    const took = Math.round(performance.now() - startedAt);
    const findings = [good(`The object store at ${where} wrote and read an object in ${took} ms.`)];
    if (!(await store.putIfAbsent(key, body)))
      findings.push(good('The object store does not overwrite existing objects.'));
    else {
      findings.push(
        fault(
          'The object store overwrote an existing object in spite of the header If-None-Match.',
          'Use a store that supports conditional writes, as S3 does.',
        ),
      );
    }
    const clock = clockFinding("The store's clock", await store.clockSkewMs());
    if (clock !== undefined) findings.push(clock);
    if (followLinks) findings.push(await followed(store, key, body));
    return findings;
  } finally {
    await store.remove(key).catch(() => {});
  }
}

async function followed(store: ObjectStore, key: string, body: Buffer): Promise<Finding> {
  const { url } = await store.presign(key, {
    lifetimeSeconds: linkSeconds,
    fileName: 'inspection.txt',
    contentType: 'text/plain',
  });
  const { origin } = new URL(url);
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(linkWithinMs) });
    const got = Buffer.from(await answer.arrayBuffer());
    if (answer.ok && body.equals(got)) return good(`A signed link to ${origin} works from here.`);
    return fault(
      `A signed link to ${origin} was answered with ${answer.status}.`,
      'Set BINDERY_S3_PUBLIC_ENDPOINT to the address under which clients reach the store, with the host name of their requests.',
    );
  } catch (error) {
    return warning(
      `Signed links lead to ${origin}, which cannot be reached from here (${reasonOf(error)}).`,
      'If clients cannot reach it either, set BINDERY_S3_PUBLIC_ENDPOINT.',
    );
  }
}

const reasonOf = (error: unknown): string =>
  messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
