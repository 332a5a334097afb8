import type { TimedEvent } from './shown-event.ts';
import type { Phase } from './timeline.ts';

/** The job's phases in order, without gaps, until `endMs`. Pure. */
export function phasesOf(events: readonly TimedEvent[], endMs: number): Phase[] {
  const phases: Phase[] = [];
  let current: Phase = { name: 'queued', startMs: 0, endMs };
  for (const { atMs, event } of events) {
    const next = phaseAfter(event, current.name);
    if (next === current.name) continue;
    phases.push({ ...current, endMs: atMs });
    current = { name: next, startMs: atMs, endMs };
  }
  return [...phases, current];
}

function phaseAfter(event: TimedEvent['event'], phase: Phase['name']): Phase['name'] {
  if (event.type === 'PagesPlanned') return 'rendering';
  if (event.type === 'RenderingFinished') return 'closing';
  if (event.type === 'ClosingRendered') return 'joining';
  if (event.type === 'SegmentLost') return event.data.chunk < 0 ? 'closing' : 'rendering';
  return phase;
}
