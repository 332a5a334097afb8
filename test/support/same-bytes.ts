import { expect } from 'vitest';
import { exportPathOnly, startInstallation } from './start-installation.ts';

/** Exports a project with one renderer and with three, and compares the bundles. */
export async function expectSameBytesFromEveryPool(project: string): Promise<void> {
  const digests: string[] = [];
  for (const renderers of [1, 3]) {
    const harness = await startInstallation({
      copies: { ...exportPathOnly, 'page-renderer': renderers },
      // Bundles contain the public address, so both installations need the same one.
      environment: { BINDERY_PUBLIC_URL: 'https://bindery.test' },
    });
    try {
      await harness.publish(project);
      const { link } = await harness.exportSite();
      digests.push(link.sha256);
    } finally {
      await harness.stop();
    }
  }
  expect(digests[0]).toBe(digests[1]);
}
