import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { runCommand } from '../../test/support/start-installation.ts';

const bindery = join(import.meta.dirname, 'bindery.mjs');

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describeWithServers(['nats-server'], 'an installation that watches its code, and whose terminal is closed', () => {
  test('stops and leaves no server behind when nobody reads its output any more', async () => {
    const folder = newFolder();
    const [port = 0] = await freePorts(1);
    const own = { BINDERY_DATA: folder, BINDERY_PORT: String(port), BINDERY_DEMO: '0', BINDERY_CONSOLE: '0' };
    const child = spawn(process.execPath, [bindery, 'start'], {
      env: { ...process.env, ...own, BINDERY_DOCS_HOST_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      for await (const line of createInterface(child.stdout)) if (line.startsWith('· nats-server is up')) break;
      const natsPid = Number(await readFile(join(folder, 'nats', 'nats.pid'), 'utf8'));
      expect(isAlive(natsPid)).toBe(true);
      child.stdout.destroy();
      expect(await once(child, 'exit')).toEqual([0, null]);
      await expect.poll(() => isAlive(natsPid)).toBe(false);
    } finally {
      if (child.exitCode === null) child.kill('SIGTERM');
    }
  });

  test('names a variable that nothing reads, restarts only the process whose code changed, stops as with Ctrl-C, and leaves no server behind', async () => {
    const folder = newFolder();
    const [port = 0] = await freePorts(1);
    const free = { BINDERY_DOCS_HOST_PORT: '0', BINDERY_CONSOLE_PORT: '0' };
    const own = { ...free, BINDERY_DATA: folder, BINDERY_PORT: String(port), BINDERY_DEMO: '0' };
    const env = { ...process.env, ...own, BINDERY_SETTING_OF_BEFORE: '1' };
    // The process group is detached, as in a shell: a closing terminal ends all of it.
    const child = spawn(process.execPath, [bindery, 'start', '--watch'], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const lines: string[] = [];
      for await (const line of createInterface(child.stdout)) {
        lines.push(line);
        if (line === 'Ctrl-C stops it.')
          await utimes(join(import.meta.dirname, '../gateway/main.ts'), 1e9, Date.now() / 1000);
        if (line.startsWith('· ready again')) break;
      }
      expect(lines, `the installation ended before it was ready; it said:\n${lines.join('\n')}`).toContain(
        'Ctrl-C stops it.',
      );
      expect(lines.filter((line) => line.includes('nothing reads it'))).toEqual([
        expect.stringMatching(/^· BINDERY_SETTING_OF_BEFORE is set, and nothing reads it/),
      ]);
      expect(lines.filter((line) => line.includes('restarting'))).toEqual([
        '· services/gateway/main.ts changed; restarting gateway',
      ]);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      // Another command makes a new link to the same console, and the one before does not work.
      const printed = lines.find((line) => line.includes('/sign-in?token='))?.trim() ?? '';
      const { stdout } = await runCommand(['console', '--data', folder]);
      expect(new URL(stdout).origin).toBe(new URL(printed).origin);
      const statusOf = async (link: string) => (await fetch(link.trim(), { redirect: 'manual' })).status;
      expect([await statusOf(printed), await statusOf(stdout)]).toEqual([403, 303]);

      const natsPid = Number(await readFile(join(folder, 'nats', 'nats.pid'), 'utf8'));
      expect(isAlive(natsPid)).toBe(true);
      child.stdout.destroy();
      process.kill(-(child.pid ?? 0), 'SIGHUP');
      expect(await once(child, 'exit')).toEqual([0, null]);
      await expect.poll(() => isAlive(natsPid)).toBe(false);
    } finally {
      if (child.exitCode === null) child.kill('SIGTERM');
    }
  });
});
