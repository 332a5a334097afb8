import { test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { mediumProject } from '../support/docs-projects.ts';
import { expectSameBytesFromEveryPool } from '../support/same-bytes.ts';

describeWithServers(['nats-server'], `${mediumProject.name}, exported by pools of different size`, () => {
  test('one renderer and three make the same bytes', () => expectSameBytesFromEveryPool(mediumProject.folder));
});
