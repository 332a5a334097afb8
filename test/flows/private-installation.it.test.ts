import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import { internalCalls } from '#shared/interfaces/internal/internal-calls.ts';
import { callerHeader, callerText } from '#shared/interfaces/internal/caller.ts';
import { serviceTokenHeader } from '#shared/interfaces/internal/internal-server.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { testCaller } from '../support/make-commit.ts';
import { secretVariables } from '../support/needed-secrets.ts';
import { newFolder } from '../support/new-folder.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const ownDocumentation = join(import.meta.dirname, '../../infra/docs');

describeWithServers(['nats-server'], 'a real installation on a folder with wide permissions', () => {
  let harness: TestInstallation;
  let secrets: string[];

  beforeAll(async () => {
    const folder = newFolder();
    // An older version, or a copy, may leave such permissions.
    await mkdir(join(folder, 'nats', 'store'), { recursive: true });
    await mkdir(join(folder, 'objects', 'stored'), { recursive: true });
    await writeFile(join(folder, 'objects', 'stored', 'old'), 'x');
    for (const path of ['', 'nats', 'nats/store', 'objects', 'objects/stored']) await chmod(join(folder, path), 0o777);
    await chmod(join(folder, 'objects', 'stored', 'old'), 0o666);
    harness = await startInstallation({ folder });
    const { contentVersion } = await harness.publish(ownDocumentation);
    await whenSearched(harness.admin, harness.domain, contentVersion);
    const { natsPasswords, callTokens, ...others } = harness.installation.secrets;
    secrets = [natsPasswords, callTokens, others].flatMap((record) => Object.values(record));
  }, 180_000);
  afterAll(() => harness?.stop());

  test('every folder in it has mode 0700, and every file 0600', async () => {
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
