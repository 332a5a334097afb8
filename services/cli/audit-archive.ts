import { join } from 'node:path';
import { loadConfig } from '#shared/config/load-config.ts';
import { objectStoreSettings } from '#shared/config/common-settings.ts';
import { archivedJobKey, archivePrefix } from '#shared/contracts/archived-job.ts';
import { readArchivedJob } from '#shared/export-archive/read-archived-job.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { exportLogSubject } from '#shared/subjects/subject-names.ts';
import type { AuditArchive } from './verify-logs.ts';

/** The object store of the environment, else that in the data folder of an installation on this machine. */
export async function openAuditStore(
  dataFolder: string,
  environment: Record<string, string | undefined>,
): Promise<ObjectStore> {
  const settings = { BINDERY_OBJECT_FOLDER: join(dataFolder, 'objects'), ...environment };
  return openObjectStore(objectStoreFromConfig(loadConfig(objectStoreSettings, settings)));
}

/** Histories of export jobs that were moved to the object store, under the subjects that they had. */
export function auditArchive(objectStore: Pick<ObjectStore, 'list' | 'get'>): AuditArchive {
  return {
    async subjects(filter) {
      const [, organization = '*', job = '*'] = filter.split('.');
      const prefix = organization === '*' ? archivePrefix : `${archivePrefix}${organization}/`;
      const subjects: string[] = [];
      for await (const { key } of objectStore.list(prefix)) {
        const [, ofOrganization = '', file = ''] = key.split('/');
        const jobId = file.replace(/\.json$/, '');
        if (job === '*' || job === jobId) subjects.push(exportLogSubject(ofOrganization, jobId));
      }
      return subjects;
    },
    async texts(subject) {
      const [, organization = '', jobId = ''] = subject.split('.');
      const job = await readArchivedJob(objectStore, archivedJobKey(organization, jobId));
      return job?.messages.map(({ sequence, text }) => ({ subject: job.subject, sequence, text }));
    },
  };
}
