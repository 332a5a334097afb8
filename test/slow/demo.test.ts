import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContentList } from '#shared/interfaces/http/content.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { localInstallationSchema } from '#services/cli/connection.ts';
import { showDemo } from '#services/cli/demo.ts';

describeWithServers(['nats-server'], 'the demo of an installation', () => {
  let harness: TestInstallation;
  beforeAll(async () => {
    harness = await startInstallation({ processes: 'shared' });
  });
  afterAll(() => harness.stop());

  test('is published at each start until the user publishes something else', async () => {
    const { installation, organization, domain, adminKey, assistantKey, folder, admin } = harness;
    const { baseUrl, secrets } = installation;
    const keys = { adminKey, assistantKey, operatorToken: secrets.operatorToken };
    const local = localInstallationSchema.parse({ baseUrl, organization, domain, ...keys });
    const start = async (): Promise<string[]> => {
      const said: string[] = [];
      await showDemo(local, folder, (line = '') => said.push(line));
      return said;
    };
    const latest = async () => (await admin.json<ContentList>(`/v1/domains/${domain}/content`)).latest;

    for (const _ of ['first start', 'second start'])
      expect(await start()).toContainEqual(expect.stringMatching(/^· published the demo: \d+ pages/));

    const own = newFolder();
    const config = { name: 'Own', theme: 'mint', colors: { primary: '#112233' }, navigation: { pages: ['index'] } };
    await writeFile(join(own, 'docs.json'), JSON.stringify(config));
    await writeFile(join(own, 'index.mdx'), '---\ntitle: Own\n---\n\nOwn words.\n');
    const { contentVersion } = await harness.publish(own);
    expect(await start()).toEqual([
      `· the domain "${domain}" has your own content, ${contentVersion}, so the demo is not published over it`,
    ]);
    expect(await latest()).toBe(contentVersion);
  });
});
