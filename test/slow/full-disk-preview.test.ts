import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeWithSmallDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const bindery = new URL('../../services/cli/bindery.mjs', import.meta.url).pathname;

/** The folder of a project and all that the command writes are on one disk, which is full. */
describeWithSmallDisk('a project on a full disk', () => {
  let disk: SmallDisk;
  let folder = '';
  beforeEach(() => {
    disk = mountSmallDisk(8);
    folder = join(disk.folder, 'docs');
    mkdirSync(folder);
    const navigation = { pages: ['index', 'other'] };
    writeFileSync(
      join(folder, 'docs.json'),
      JSON.stringify({ name: 'A', theme: 'mint', colors: { primary: '#123456' }, navigation }),
    );
    writeFileSync(join(folder, 'index.mdx'), '---\ntitle: A\n---\n\nOne<br>two. See [other](/other#helo).\n');
    writeFileSync(join(folder, 'other.mdx'), '---\ntitle: B\n---\n\n## Hello\n\nHello.\n');
    disk.fill();
  });
  afterEach(() => disk.remove());

  function run(...args: string[]) {
    const env = { ...process.env, TMPDIR: disk.folder, BINDERY_CACHE: join(disk.folder, 'cache') };
    const child = spawn(process.execPath, [bindery, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    return { child, said: () => said, ended };
  }

  test('a check finds what it finds, and a repair that cannot be written changes nothing', {
    timeout: 120_000,
  }, async () => {
    const check = run('check', folder);
    expect(await check.ended).toBe(0);
    expect(check.said()).toContain('2 pages');
    const before = readFileSync(join(folder, 'index.mdx'), 'utf8');
    const fix = run('check', folder, '--fix');
    expect(await fix.ended).toBe(1);
    expect(fix.said()).toContain('cannot be repaired');
    expect(readFileSync(join(folder, 'index.mdx'), 'utf8')).toBe(before);
  });

  test('a preview shows the pages', { timeout: 120_000 }, async () => {
    const dev = run('dev', folder, '--port', '0');
    try {
      await expect.poll(dev.said, { timeout: 60_000 }).toMatch(/http:\/\/localhost:\d+/);
      const address = /http:\/\/localhost:\d+/.exec(dev.said())?.[0] ?? '';
      const answer = await fetch(`${address}/other.html`);
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Hello.')]);
    } finally {
      dev.child.kill();
      await dev.ended;
    }
  });
});
