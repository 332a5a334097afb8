import type { HistoryEntry } from '#shared/contracts/http/export-history.ts';
import { printable } from './printable.ts';

/** One event of a job's history as a line: revision, time, type, who, and its facts. Pure. */
export function eventLine(event: HistoryEntry): string {
  const actor = `${event.actor.kind}:${event.actor.id}`;
  return `${String(event.revision).padStart(4)}  ${event.time}  ${event.type.padEnd(18)} ${actor}  ${eventFacts(event)}`.trimEnd();
}

/** What an event says beside its type: `chunk=3 attempt=1`, and each page that failed with its reason. Pure. */
export function eventFacts({ data }: Pick<HistoryEntry, 'data'>): string {
  const facts = Object.entries(data).flatMap(([name, value]) => {
    if (name === 'failedPages' && Array.isArray(value)) return value.map(failedPage);
    return value === null || typeof value === 'object' ? [] : [`${name}=${printable(String(value))}`];
  });
  return facts.join(' ');
}

function failedPage(page: unknown): string {
  const { path, reason } = (page ?? {}) as { path?: unknown; reason?: unknown };
  return `page=${printable(String(path))} (${printable(String(reason))})`;
}
