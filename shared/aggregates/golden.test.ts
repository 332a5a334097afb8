import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { goldenContract, membersOf } from '#shared/contracts/golden.contract.ts';
import { commitHash } from '#shared/messaging/log/commit-chain.ts';
import { contentCommitSchema, contentEventSchema } from './content/content.ts';
import { directoryCommitSchema, directoryEventSchema } from './directory/directory.ts';
import { exportCommitSchema, exportEventSchema } from './export-job/export-job.ts';
import { siteCommitSchema, siteEventSchema } from './site/site.ts';
import { threadCommitSchema, threadEventSchema } from './thread/thread.ts';

const kinds = {
  'export-job': { ...membersOf(exportEventSchema), 'commit.v1': exportCommitSchema },
  content: { ...membersOf(contentEventSchema), 'commit.v1': contentCommitSchema },
  directory: { ...membersOf(directoryEventSchema), 'commit.v1': directoryCommitSchema },
  site: { ...membersOf(siteEventSchema), 'commit.v1': siteCommitSchema },
  thread: { ...membersOf(threadEventSchema), 'commit.v1': threadCommitSchema },
};
const folderOf = (kind: string) => join(import.meta.dirname, kind, 'golden');

for (const [kind, members] of Object.entries(kinds)) goldenContract(kind, folderOf(kind), members);

test.each(Object.keys(kinds))('the stored hash of the golden commit of %s still matches', (kind) => {
  const stored = JSON.parse(readFileSync(join(folderOf(kind), 'commit.v1.json'), 'utf8')) as { hash: string };
  expect(commitHash(stored as Parameters<typeof commitHash>[0])).toBe(stored.hash);
});
