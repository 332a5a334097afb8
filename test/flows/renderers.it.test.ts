import { join } from 'node:path';
import { test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { expectSameBytesFromEveryPool } from '../support/same-bytes.ts';

describeWithServers(['nats-server'], 'the same content exported by pools of different size', () => {
  test('one renderer and three make the same bytes', async () => {
    await expectSameBytesFromEveryPool(join(import.meta.dirname, '../../infra/docs'));
  }, 120_000);
});
