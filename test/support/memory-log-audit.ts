import type { BusParts } from '#shared/messaging/bus.ts';
import { subjectMatches } from '#shared/messaging/subjects/subject-names.ts';
import { accessSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { LogAudit } from '#shared/messaging/verify/log-audit.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import type { MemoryBus } from './memory-bus.ts';

type Logs = Pick<BusParts, 'exports' | 'content' | 'sites' | 'directory'>;

const logOf: Readonly<Record<string, keyof Logs>> = {
  EXPORTS: 'exports',
  CONTENT: 'content',
  SITES: 'sites',
  DIRECTORY: 'directory',
};

/** The stored logs of a bus in memory, as an audit reads them. */
export function memoryLogAudit(bus: MemoryBus): LogAudit {
  const accessed = (): StoredText[] =>
    bus.recorded.access.map((record, index) => ({
      subject: accessSubject(record.organization, record.jobId),
      sequence: index + 1,
      text: JSON.stringify(record),
    }));
  const subjects = async (stream: string, filter: string): Promise<string[]> => {
    const log = logOf[stream];
    if (log !== undefined) return (await bus[log].subjects(filter)).toSorted();
    return [...new Set(accessed().map(({ subject }) => subject))].filter((each) => subjectMatches(filter, each));
  };
  const stored = async (stream: string, subject: string): Promise<StoredText[]> => {
    const log = logOf[stream];
    return log === undefined ? accessed().filter((each) => each.subject === subject) : await bus[log].texts(subject);
  };
  return {
    subjects,
    stored,
    counts: async (stream, filter) =>
      Object.fromEntries(
        await Promise.all(
          (await subjects(stream, filter)).map(
            async (subject) => [subject, (await stored(stream, subject)).length] as const,
          ),
        ),
      ),
    gaps: async () => [],
    close: async () => {},
  };
}
