import type { TimedEvent } from './shown-event.ts';
import { lengthMs } from './spans.ts';
import type { Lane, Totals } from './timeline.ts';

/** Counts over the whole history. Pure. */
export function totalsOf(events: readonly TimedEvent[], lanes: readonly Lane[]): Totals {
  const done = new Map<number, { pages: number; reused: boolean }>();
  /** By work and how often it was lost before, so that an attempt that is reported twice counts once. */
  const attempts = new Set<string>();
  const works = new Set<string>();
  const timesLost = new Map<string, number>();
  const tried = (work: string, attempt: number) => {
    works.add(work);
    attempts.add(`${work} ${timesLost.get(work) ?? 0} ${attempt}`);
  };
  let planned: Pick<Totals, 'pageTotal' | 'chunkTotal'> = {};
  for (const { event } of events) {
    switch (event.type) {
      case 'PagesPlanned':
        planned = { pageTotal: event.data.pageTotal, chunkTotal: event.data.chunkCount };
        break;
      case 'ChunkRendered':
        done.set(event.data.chunk, { pages: event.data.pageCount, reused: event.data.reused });
        tried(`chunk ${event.data.chunk}`, event.data.attempt);
        break;
      case 'ChunkFailed':
      case 'ChunkTimedOut':
        tried(`chunk ${event.data.chunk}`, event.data.attempt);
        break;
      case 'ClosingRendered':
      case 'ClosingFailed':
        tried('closing', event.data.attempt);
        break;
      case 'BundleFailed':
        tried('bundle', event.data.attempt);
        break;
      case 'ExportCompleted':
        // Its attempt is the one after the last that failed, which the event does not say.
        tried('bundle', 0);
        break;
      case 'SegmentLost': {
        const work = event.data.chunk < 0 ? 'closing' : `chunk ${event.data.chunk}`;
        timesLost.set(work, (timesLost.get(work) ?? 0) + 1);
        // All that follows from it is made again, too.
        if (work !== 'closing') timesLost.set('closing', (timesLost.get('closing') ?? 0) + 1);
        timesLost.set('bundle', (timesLost.get('bundle') ?? 0) + 1);
        done.delete(event.data.chunk);
        break;
      }
      default:
    }
  }
  const renderers = lanes.filter(({ chunks }) => chunks > 0);
  const ended = [...done.values()];
  return {
    ...planned,
    pages: ended.reduce((sum, { pages }) => sum + pages, 0),
    chunks: ended.length,
    reused: ended.filter(({ reused }) => reused).length,
    attempts: attempts.size,
    repeated: attempts.size - works.size,
    renderers: renderers.length,
    busyMs: renderers.reduce((sum, { busyMs }) => sum + busyMs, 0),
    waitMs: renderers.reduce((sum, { waits }) => sum + lengthMs(waits), 0),
  };
}
