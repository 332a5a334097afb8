import type { ShownEvent, TimedEvent } from './shown-event.ts';
import type { Trouble } from './timeline.ts';

const closing = 'closing segment';
const bundle = 'bundle';

/** All that went wrong, in order, and when each was made good. Pure. */
export function troublesOf(events: readonly TimedEvent[]): Trouble[] {
  const troubles: Trouble[] = [];
  for (const { event, atMs } of events) {
    const done = doneBy(event);
    if (done !== undefined) {
      for (const trouble of troubles)
        if (trouble.what === done && trouble.kind !== 'pages-failed') trouble.madeGoodMs ??= atMs;
    }
    const trouble = troubleOf(event);
    if (trouble !== undefined) troubles.push({ pages: [], ...trouble, atMs });
  }
  return troubles;
}

const chunkName = (chunk: number): string => (chunk < 0 ? closing : `chunk ${chunk}`);

function doneBy(event: ShownEvent): string | undefined {
  if (event.type === 'ChunkRendered') return chunkName(event.data.chunk);
  if (event.type === 'ClosingRendered') return closing;
  return event.type === 'ExportCompleted' ? bundle : undefined;
}

function troubleOf(event: ShownEvent): (Omit<Trouble, 'atMs' | 'pages'> & { pages?: string[] }) | undefined {
  switch (event.type) {
    case 'ChunkFailed': {
      const { chunk, attempt, renderer, cause, reason, failedPages } = event.data;
      // The orchestrator speaks for a renderer that is gone.
      const worker = renderer === 'orchestrator' ? {} : { worker: renderer };
      return {
        kind: cause === 'pages' ? 'pages-failed' : 'attempt-failed',
        what: chunkName(chunk),
        attempt,
        ...worker,
        reason,
        pages: failedPages.map(({ path }) => path),
      };
    }
    case 'ChunkTimedOut':
      return {
        kind: 'timed-out',
        what: chunkName(event.data.chunk),
        attempt: event.data.attempt,
        reason: 'no renderer had it in hand any more and none reported it',
      };
    case 'SegmentLost':
      return { kind: 'segment-lost', what: chunkName(event.data.chunk), reason: event.data.reason };
    case 'ClosingFailed':
      return { kind: 'closing-failed', what: closing, attempt: event.data.attempt, reason: event.data.reason };
    case 'BundleFailed':
      return { kind: 'bundle-failed', what: bundle, attempt: event.data.attempt, reason: event.data.reason };
    default:
      return undefined;
  }
}
