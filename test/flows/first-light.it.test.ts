import { execFile, execFileSync } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { apiClient } from '#services/cli/api-client.ts';
import { askQuestion } from '#services/cli/commands/ask.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import { verifyBundle } from '#shared/export/bundle/verify-bundle.ts';
import { callerHeader, callerText } from '#shared/interfaces/internal/caller.ts';
import { internalCalls } from '#shared/interfaces/internal/internal-calls.ts';
import { serviceTokenHeader } from '#shared/interfaces/internal/internal-server.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { archiveReaders } from '../support/archives.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { testCaller } from '../support/make-commit.ts';
import { secretVariables } from '../support/needed-secrets.ts';
import { newFolder } from '../support/new-folder.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { suiteBrowser } from '../support/suite-browser.ts';

const ownDocumentation = join(import.meta.dirname, '../../infra/docs');
const minuteMs = 60_000;

describeWithServers(['nats-server', 'jq'], 'a real project, published, exported, checked and asked', () => {
  let harness: TestInstallation;
  let bundle: string;
  let announcedSha256: string;
  let secrets: string[];
  let published: PublishedContent;

  beforeAll(async () => {
    const folder = newFolder();
    // An older version, or a copy, may leave such permissions.
    await mkdir(join(folder, 'nats', 'store'), { recursive: true });
    await mkdir(join(folder, 'objects', 'stored'), { recursive: true });
    await writeFile(join(folder, 'objects', 'stored', 'old'), 'x');
    for (const path of ['', 'nats', 'nats/store', 'objects', 'objects/stored']) await chmod(join(folder, path), 0o777);
    await chmod(join(folder, 'objects', 'stored', 'old'), 0o666);
    harness = await startInstallation({ folder });
    const { natsPasswords, callTokens, ...others } = harness.installation.secrets;
    secrets = [natsPasswords, callTokens, others].flatMap((record) => Object.values(record));
    published = await harness.publish(ownDocumentation);
    bundle = join(newFolder(), 'bundle.tar.gz');
    // This is the polling loop of the specification, except for the base address, the key and a shorter wait.
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
    await whenSearched(harness.admin, harness.domain, published.contentVersion);
  }, 3 * minuteMs);
  afterAll(() => harness?.stop());

  describeWithServers(['bsdtar', 'busybox', 'python3'], 'in other programs', () => {
    test.each(Object.entries(archiveReaders))('%s reads the archive to its end', async (_, read) => {
      const paths = await read(bundle);
      const { files } = await verifyBundle(createReadStream(bundle));
      expect(paths).toHaveLength(files);
      expect(paths).toContain(`${harness.domain}/quickstart.html`);
      expect(paths).toContain(`${harness.domain}/_bindery/manifest.json`);
    });
  });

  test('the loop downloads the bytes that the server announced', () => {
    expect(sha256Of(readFileSync(bundle))).toBe(announcedSha256);
  });

  test('our own documentation has no problems', async () => {
    expect(published.diagnostics).toEqual([]);
    const path = `${harness.domain}/_bindery/report.json`;
    const { stdout } = await promisify(execFile)('tar', ['-xzOf', bundle, path]);
    expect(JSON.parse(stdout)).toMatchObject({ brokenLinks: [], pages: {} });
  });

  test('it holds just what its manifest says', async () => {
    expect((await verifyBundle(createReadStream(bundle))).problems).toEqual([]);
  });

  test('an answer names its sources, and the thread continues', async () => {
    const reader = apiClient(harness.installation.baseUrl, harness.assistantKey);
    const first = await askQuestion(reader, harness.domain, 'How do I check a bundle?');
    expect(first.sources.map(({ url }) => url.split('#')[0])).toContain('/concepts/bundle');
    const second = await askQuestion(reader, harness.domain, 'And what is in it?', {
      threadId: first.threadId ?? '',
    });
    expect(second.threadId).toBe(first.threadId);
  });

  describeWithServers(['chromium'], 'in Chromium', () => {
    const { newContext } = suiteBrowser();
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
      const page = await (await newContext()).newPage();
      const address = `http://127.0.0.1:${(files.address() as AddressInfo).port}/`;
      // The code is a text, because it runs in the page, whose globals are not in this program's types.
      const length = await page.evaluate<number>(`
      (async () => {
        const response = await fetch(${JSON.stringify(address)});
        const reader = response.body.pipeThrough(new DecompressionStream('gzip')).getReader();
        let length = 0;
        for (let part = await reader.read(); !part.done; part = await reader.read()) length += part.value.length;
        return length;
      })()`);
      expect(length).toBe(gunzipSync(readFileSync(bundle)).length);
    });
  });

  test('every folder of the installation has mode 0700, and every file 0600', async () => {
    const entries = ['', ...(await readdir(harness.folder, { recursive: true }))];
    const open: string[] = [];
    const kinds = new Set<string>();
    for (const path of entries) {
      // Files in use may disappear meanwhile.
      const found = await lstat(join(harness.folder, path)).catch(() => undefined);
      if (found === undefined) continue;
      const mode = (found.mode & 0o777).toString(8);
      if (mode !== (found.isDirectory() ? '700' : '600')) open.push(`${path} ${mode}`);
      kinds.add(/^nats\/store|\.log$|\.db|^objects|^search|secrets\.json$/.exec(path)?.[0] ?? '');
    }
    expect(open).toEqual([]);
    expect([...kinds]).toEqual(expect.arrayContaining(['nats/store', '.log', 'objects', 'search', 'secrets.json']));
  });

  test.skipIf(process.platform !== 'linux').each(serviceNames)('the %s has its own secrets alone', async (service) => {
    const [pid] = harness.installation.pids(service);
    const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
    const has = environment.filter((line) => secrets.some((secret) => line.includes(secret)));
    expect(has.map((line) => line.replace(/=.*/s, '')).toSorted()).toEqual(secretVariables(service));
  });

  test.skipIf(process.platform !== 'linux')('the children that read pages have none', () => {
    const children = execFileSync('ps', ['-eo', 'pid=,args='])
      .toString()
      .split('\n')
      .filter((line) => line.includes('-child.ts'));
    expect(children.length).toBeGreaterThan(0);
    const shown = execFileSync('ps', ['eww', '-eo', 'args=']).toString().split('\n');
    const withSecrets = shown.filter(
      (line) => line.includes('-child.ts') && secrets.some((secret) => line.includes(secret)),
    );
    expect(withSecrets).toEqual([]);
  });

  test('the token of the housekeeper only allows ending content versions', async () => {
    const ports = JSON.parse(await readFile(join(harness.folder, 'ports.json'), 'utf8')) as Record<string, number>;
    const token = harness.installation.secrets.callTokens['BINDERY_TOKEN_HOUSEKEEPER_TO_PUBLISHER'] ?? '';
    const answers: Record<string, number> = {};
    for (const { method, path, service } of internalCalls) {
      const url = `http://127.0.0.1:${ports[service]}${path.replaceAll(/:\w+/g, `cv_${'0'.repeat(32)}`)}`;
      const headers = {
        [serviceTokenHeader]: token,
        [callerHeader]: callerText({ ...testCaller, organization: harness.organization, domain: harness.domain }),
      };
      const answer = await fetch(url, { method, headers });
      await answer.body?.cancel();
      if (answer.status !== 401) answers[`${method} ${path}`] = answer.status;
    }
    expect(answers).toEqual({ 'DELETE /internal/content/:contentVersion': 404 });
  });
});
