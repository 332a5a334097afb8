import { test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { largestProject } from '../support/docs-projects.ts';
import { expectSameBytesFromEveryPool } from '../support/same-bytes.ts';

describeWithServers(['nats-server'], 'a large project exported by pools of different size', () => {
  test('one renderer and three make the same bytes', async () => {
    await expectSameBytesFromEveryPool(largestProject.folder);
  }, 300_000);
});
