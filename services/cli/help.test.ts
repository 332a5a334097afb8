import { expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { runCommand } from '../../test/support/start-installation.ts';

test('bindery alone shows what it can do, and that is no failure', async () => {
  expect(await runCommand([])).toEqual({ code: 0, stdout: expect.stringContaining('Commands:'), stderr: '' });
});

test('run says which services there are', async () => {
  const { code, stdout } = await runCommand(['run', '--help']);
  expect(code).toBe(0);
  for (const name of [...serviceNames, 'docs-host', 'console']) expect(stdout).toContain(name);
  expect((await runCommand(['export', '--help'])).stdout).not.toContain('default: false');
});

test('start says which settings there are, and starts nothing', async () => {
  const { code, stdout } = await runCommand(['start', '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('Usage: bindery start');
  expect(stdout).toMatch(/BINDERY_PORT +port that the gateway listens on \(default: 8080\)/);
  expect(stdout).toContain('BINDERY_DATA');
  expect(stdout).toMatch(/BINDERY_DEMO +.*\(default: 1\)/);
});
