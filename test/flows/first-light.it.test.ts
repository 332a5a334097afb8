import { execFile } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import { askQuestion } from '#services/cli/commands/ask.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import { verifyBundle } from '#shared/export/bundle/verify-bundle.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { archiveReaders } from '../support/archives.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { openBrowser } from '../support/open-browser.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const ownDocumentation = join(import.meta.dirname, '../../infra/docs');
const minuteMs = 60_000;

describeWithServers(
  ['nats-server', 'bsdtar', 'busybox', 'jq', 'python3'],
  'a real project, published, exported, checked and asked',
  () => {
    let harness: TestInstallation;
    let bundle: string;
    let announcedSha256: string;

    beforeAll(async () => {
      harness = await startInstallation();
      await harness.publish(ownDocumentation);
      bundle = join(harness.folder, 'bundle.tar.gz');
      // The specification's polling loop, with only base address and key changed (and a shorter wait).
      const { stdout } = await promisify(execFile)(join(import.meta.dirname, 'polling-loop.sh'), {
        env: {
          ...process.env,
          BASE_URL: harness.installation.baseUrl,
          ADMIN_API_KEY: harness.adminKey,
          DOMAIN: harness.domain,
          OUT: bundle,
          POLL_SECONDS: '0.2',
        },
      });
      announcedSha256 = stdout.trim();
    }, 3 * minuteMs);
    afterAll(() => harness?.stop());

    test.each(Object.entries(archiveReaders))('%s reads the archive to its end', async (_, read) => {
      const paths = await read(bundle);
      const { files } = await verifyBundle(createReadStream(bundle));
      expect(paths).toHaveLength(files);
      expect(paths).toContain(`${harness.domain}/quickstart.html`);
      expect(paths).toContain(`${harness.domain}/_bindery/manifest.json`);
    });

    test('the loop downloads the bytes that the server announced', () => {
      expect(sha256Of(readFileSync(bundle))).toBe(announcedSha256);
    });

    test('it holds just what its manifest says', async () => {
      expect((await verifyBundle(createReadStream(bundle))).problems).toEqual([]);
    });

    test('an answer names its sources, and the thread continues', async () => {
      const { latest } = await harness.admin.json<{ latest: string }>(`/v1/domains/${harness.domain}/content`);
      await whenSearched(harness.admin, harness.domain, latest);
      const reader = apiClient(harness.installation.baseUrl, harness.assistantKey);
      const first = await askQuestion(reader, harness.domain, 'How do I check a bundle?');
      expect(first.sources.map(({ url }) => url.split('#')[0])).toContain('/concepts/bundle');
      const second = await askQuestion(reader, harness.domain, 'And what is in it?', {
        threadId: first.threadId ?? '',
      });
      expect(second.threadId).toBe(first.threadId);
    });

    describeWithServers(['chromium'], 'in Chromium', () => {
      let files: Server;
      beforeAll(async () => {
        files = createServer((_, response) => {
          response.setHeader('access-control-allow-origin', '*');
          createReadStream(bundle).pipe(response);
        });
        await new Promise<void>((resolve) => {
          files.listen(0, '127.0.0.1', resolve);
        });
      });
      afterAll(() => void files.close());

      test('DecompressionStream reads the archive to its end', async () => {
        const browser = await openBrowser();
        try {
          const page = await browser.newPage();
          const address = `http://127.0.0.1:${(files.address() as AddressInfo).port}/`;
          // As text: the code runs in the page, whose globals the types of this program do not have.
          const length = await page.evaluate<number>(`
          (async () => {
            const response = await fetch(${JSON.stringify(address)});
            const reader = response.body.pipeThrough(new DecompressionStream('gzip')).getReader();
            let length = 0;
            for (let part = await reader.read(); !part.done; part = await reader.read()) length += part.value.length;
            return length;
          })()`);
          expect(length).toBe(gunzipSync(readFileSync(bundle)).length);
        } finally {
          await browser.close();
        }
      });
    });
  },
);
