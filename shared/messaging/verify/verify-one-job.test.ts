import { expect, test } from 'vitest';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import { readModelsBy } from '#shared/messaging/read-models.ts';
import { directoryLogSubject, exportLogSubject, subjectMatches } from '#shared/messaging/subjects/subject-names.ts';
import { DamagedObject } from '#shared/storage/object-store.ts';
import { exportCommit, exportState } from '../../../test/support/make-commit.ts';
import { memoryDocuments } from '../../../test/support/memory-documents.ts';
import { type Audit, verifyLogs } from './verify-logs.ts';

const jobId = `se_${'a'.repeat(22)}`;
const subject = exportLogSubject('acme', jobId);
const text = JSON.stringify(exportCommit(exportState({ jobId })));

/** An object of the archive that the store finds damaged. */
const cut = 'cut';

/** An audit over a log and an archive in memory, and a record of the lookups in the archive. */
function auditOf({ log = {}, archive = {} }: { log?: Record<string, string>; archive?: Record<string, string> }) {
  const listed: string[] = [];
  const lookedFor: string[] = [];
  const directory = ['one', 'acme', 'two'].map(directoryLogSubject);
  const audit: Audit = {
    logs: {
      subjects: async (stream, filter) =>
        (stream === 'DIRECTORY' ? directory : Object.keys(log)).filter((each) => subjectMatches(filter, each)),
      counts: async () => ({}),
      stored: async (_stream, of) => (log[of] === undefined ? [] : [{ subject: of, sequence: 1, text: log[of] }]),
      gaps: async () => [],
      close: async () => {},
    },
    objectStore: {
      async *list(prefix) {
        listed.push(prefix);
        for (const key of Object.keys(archive)) {
          if (key.startsWith(prefix)) yield { key, sizeBytes: 1, modifiedAt: new Date() };
        }
      },
      async head(key) {
        lookedFor.push(key);
        if (archive[key] === cut) throw new DamagedObject('it was cut');
        return archive[key] === undefined ? undefined : { sizeBytes: 1, modifiedAt: new Date(), metadata: {} };
      },
      async get(key) {
        if (archive[key] === cut) throw new DamagedObject('it was cut');
        return archive[key] === undefined ? undefined : Buffer.from(archive[key]);
      },
      getStream: async () => undefined,
    },
    models: readModelsBy(() => memoryDocuments<never>(async () => {})),
  };
  return { audit, listed, lookedFor };
}
const archived = JSON.stringify({ version: 1, subject, messages: [{ sequence: 1, text }] });

test('one job of the log is looked for under its own key of the archive', async () => {
  const { audit, listed, lookedFor } = auditOf({ log: { [subject]: text } });
  expect(await verifyLogs(audit, { job: jobId })).toMatchObject([
    { stream: 'EXPORTS', historyCount: 1, commitCount: 1 },
    { stream: 'ACCESS', historyCount: 0 },
  ]);
  expect(lookedFor).toEqual([archivedJobKey('acme', jobId)]);
  expect(listed).toEqual([]);
});

test('one job that is archived is found by its id alone, and the archive is not listed', async () => {
  const { audit, listed, lookedFor } = auditOf({
    archive: { [archivedJobKey('acme', jobId)]: archived, 'archive/two/x.json': '{' },
  });
  expect(await verifyLogs(audit, { job: jobId })).toMatchObject([
    { stream: 'EXPORTS', historyCount: 1, commitCount: 1 },
    { stream: 'ACCESS', historyCount: 0 },
  ]);
  expect(lookedFor.toSorted()).toEqual(['acme', 'one', 'two'].map((each) => archivedJobKey(each, jobId)));
  expect(listed).toEqual([]);
});

test('one job whose archived history was cut is found, and reported as unreadable', async () => {
  const { audit } = auditOf({ archive: { [archivedJobKey('acme', jobId)]: cut } });
  const [report] = await verifyLogs(audit, { job: jobId });
  expect(report?.problems).toMatchObject([{ problem: 'unreadable', message: expect.stringContaining('it was cut') }]);
});
