import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { natsConfig, serverUsers } from '#shared/messaging/subjects/permissions.ts';
import { durableRows } from '#shared/messaging/subjects/subject-table.ts';
import { describeWithSmallDisk, mountSmallDisk } from '../../../test/support/small-disk.ts';
import { startNatsServer } from '../../../test/support/start-bus.ts';
import { leftToProvision, provision } from './provision.ts';
import { beginAt, durableSettings } from './wanted-settings.ts';

const passwords = Object.fromEntries(serverUsers.map((user) => [user, `${user} password`]));
const configText = natsConfig({ passwords }).replace(
  'users = [',
  'users = [\n    { user: "admin", password: "admin" }',
);
const renamed = durableRows.find(({ formerly }) => formerly !== undefined);

describeWithSmallDisk('provisioning on a disk that is full', () => {
  test('says so of the stream or consumer, once, and can be repeated when there is room', async () => {
    const disk = mountSmallDisk(8);
    const server = await startNatsServer({ configText, storeDir: join(disk.folder, 'store') });
    const admin = await connect({ servers: server.url, user: 'admin', pass: 'admin' });
    const said: string[] = [];
    const provisioned = (rendererVersions: string[] = []) => {
      const say = (line: string) => void said.push(line);
      const log = { info: say, warn: say, error: (_: object, line: string) => say(line) };
      const password = passwords['provisioner'] ?? '';
      return provision({ url: server.url, password, rendererVersions, log });
    };
    try {
      const jsm = await jetstreamManager(admin);
      disk.fill();
      await expect(provisioned()).rejects.toThrow(
        /^nats-server cannot make the stream \w+, because its disk is full \(.+\)\. Make room there, then repeat this\./,
      );
      disk.free();
      await provisioned();

      // An earlier version had another name for this consumer, whose position the new one takes over.
      if (renamed?.formerly?.[0] === undefined) throw new Error('No consumer has a former name.');
      await jsm.consumers.delete(renamed.stream, renamed.name);
      await jsm.consumers.add(renamed.stream, {
        ...durableSettings({ ...renamed, name: renamed.formerly[0] }),
        ...beginAt(1),
      });
      disk.fill();
      await expect(provisioned()).rejects.toThrow(
        `nats-server cannot make the consumer ${renamed.name}, because its disk is full`,
      );
      expect(said).toEqual([]);
      disk.free();
      await provisioned();
      expect(said).toEqual([expect.stringMatching(`the consumer ${renamed.name} continues at the position of`)]);
      expect((await leftToProvision(jsm, [])).problems).toEqual([]);
    } finally {
      await admin.close();
      await server.stop();
      disk.remove();
    }
  });
});
