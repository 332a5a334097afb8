import { expect, test } from 'vitest';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import { readModelsBy } from '#shared/messaging/read-models.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { memoryDocuments } from '../../../test/support/memory-documents.ts';
import type { SequenceRange } from './log-audit.ts';
import { sequenceSet } from './sequence-set.ts';
import { verifyLogs } from './verify-logs.ts';

test('the archive explains gaps, and no gap reads the whole archive', async () => {
  const jobs = 20;
  const messagesOf = 10_000;
  const total = jobs * messagesOf;
  const missing = 123_457;
  // Messages alternate between the archive and the log.
  const gaps: SequenceRange[] = Array.from({ length: total }, (_, n) => ({ first: 2 * n + 1, last: 2 * n + 1 }));
  const archive = new Map(
    Array.from({ length: jobs }, (_, n) => {
      const jobId = `se_${String(n).padStart(22, '0')}`;
      const sequences = Array.from({ length: messagesOf }, (_, m) => 2 * (m * jobs + n) + 1);
      const messages = sequences.filter((one) => one !== missing).map((sequence) => ({ sequence, text: '{}' }));
      const object = { version: 1, subject: exportLogSubject('acme', jobId), messages };
      return [archivedJobKey('acme', jobId), Buffer.from(JSON.stringify(object))];
    }),
  );
  const reports = await verifyLogs(
    {
      logs: {
        subjects: async () => [],
        counts: async () => ({}),
        stored: async () => [],
        gaps: async (stream) => (stream === 'EXPORTS' ? gaps : []),
        close: async () => {},
      },
      objectStore: {
        async *list() {
          for (const [key, { length }] of archive) yield { key, sizeBytes: length, modifiedAt: new Date() };
        },
        head: async () => undefined,
        get: async (key) => archive.get(key),
        getStream: async () => undefined,
      },
      models: readModelsBy(() => memoryDocuments<never>(async () => {})),
    },
    {},
  );
  const holes = reports.flatMap(({ problems }) => problems).filter(({ subject }) => subject === 'EXPORTS');
  expect(holes).toMatchObject([{ problem: 'hole', sequence: missing }]);
});

test('a range without the sequences of a set', () => {
  const set = sequenceSet();
  expect(set.outside({ first: 3, last: 1_000_000 })).toEqual([{ first: 3, last: 1_000_000 }]);
  for (const sequence of [5, 6, 65_535, 65_536, 200_000, 2 ** 50]) set.add(sequence);
  expect(set.outside({ first: 5, last: 6 })).toEqual([]);
  expect(set.outside({ first: 3, last: 200_000 })).toEqual([
    { first: 3, last: 4 },
    { first: 7, last: 65_534 },
    { first: 65_537, last: 199_999 },
  ]);
  expect(set.outside({ first: 200_000, last: 200_002 })).toEqual([{ first: 200_001, last: 200_002 }]);
});
