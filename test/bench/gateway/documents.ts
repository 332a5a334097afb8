import { type KeyDocument, apiKeyKey, jobStatusKey } from '#shared/interfaces/read-models.ts';
import { generateApiKey, parseApiKey } from '#shared/http/api-key.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { exportState } from '../../support/make-commit.ts';

const time = '2026-03-01T10:00:00.000Z';
const writesAtOnce = 256;

/** Stores a key of an organization, as the projector does, and returns its text. */
export async function storeKey(models: ReadModels, organization: string): Promise<string> {
  const text = generateApiKey('admin');
  const sha256 = parseApiKey(text)?.sha256 ?? '';
  const document: KeyDocument = {
    revision: 1,
    commitId: 'bench',
    updatedAt: time,
    organization,
    organizationPlan: 'enterprise',
    domains: [{ slug: 'docs', hosts: ['docs.example.com'], groups: 'claimed' }],
    key: {
      id: `key_${randomBase62(16)}`,
      kind: 'admin',
      name: 'bench',
      sha256,
      scopes: ['read', 'write'],
      allowedAddresses: [],
      allowedOrigins: [],
      createdAt: time,
    },
  };
  await models.directoryKeys.put(apiKeyKey(sha256), document);
  return text;
}

/** Stores keys for this number of organizations, and returns some of their texts. */
export async function storeKeys(models: ReadModels, organizations: number, keysOfEach: number): Promise<string[]> {
  const all = Array.from({ length: organizations * keysOfEach }, (_, at) => `bench-${at % organizations}`);
  const texts = await inParallel(all, writesAtOnce, (organization) => storeKey(models, organization));
  return texts.slice(-1_000);
}

/** Stores jobs that are being rendered, and returns their ids. */
export async function storeJobs(models: ReadModels, organization: string, jobs: number): Promise<string[]> {
  const ids = Array.from({ length: jobs }, () => `se_${randomBase62(22)}`);
  await inParallel(ids, writesAtOnce, async (jobId) => {
    const state = exportState({ organization, jobId, phase: 'rendering', progress: 40, pageCount: 400 });
    const document = { state, revision: 7, commitId: 'bench', updatedAt: time };
    await models.jobStatus.put(jobStatusKey(organization, jobId), document);
  });
  return ids;
}
