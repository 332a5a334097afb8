import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { largestProject } from '../support/docs-projects.ts';
import { exportPathOnly, startInstallation } from '../support/start-installation.ts';

describeWithServers(['nats-server'], 'the same content exported by pools of different size', () => {
  test('one renderer and three make the same bytes', async () => {
    const digests: string[] = [];
    for (const renderers of [1, 3]) {
      const harness = await startInstallation({ copies: { ...exportPathOnly, 'page-renderer': renderers } });
      try {
        await harness.publish(largestProject.folder);
        const { link } = await harness.exportSite();
        digests.push(link.sha256);
      } finally {
        await harness.stop();
      }
    }
    expect(digests[0]).toBe(digests[1]);
  }, 300_000);
});
