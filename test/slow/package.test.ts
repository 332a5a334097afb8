import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test, vi } from 'vitest';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { widgetFile } from '#shared/docs/render/site/widget-file.ts';
import { askHost } from '../support/ask-host.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { type NodeMajor, nodeProgramsOf } from '../support/node-majors.ts';
import { startEditor } from '../support/test-editor.ts';

const clone = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** An installation reads and writes 11,000 files, which takes minutes on a machine that does other things. */
const installMs = 900_000;
vi.setConfig({ testTimeout: installMs, hookTimeout: installMs });

/** Packs a copy of the clone, because `npm pack` changes its package.json for a moment, and other tests read it. Returns the file. */
async function pack(): Promise<string> {
  const folder = newFolder();
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: clone });
  for (const path of stdout.split('\0').filter((each) => each !== '' && each !== 'node_modules')) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    // A file that was removed may still be in the index.
    cpSync(join(clone, path), join(folder, path), { recursive: true, force: true });
  }
  symlinkSync(join(clone, 'node_modules'), join(folder, 'node_modules'));
  const before = readFileSync(join(folder, 'package.json'), 'utf8');
  const made = await run('npm', ['pack', '--silent'], { cwd: folder });
  expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(before);
  return join(folder, made.stdout.trim());
}

/** The environment of a user who has Node and npm, and the nats-server that Bindery has fetched. */
function environmentOf(programs: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(BINDERY_|NODE_|npm_(?!config_registry))/.test(name));
  const { NODE_EXTRA_CA_CERTS } = process.env;
  return {
    ...Object.fromEntries(kept),
    ...(NODE_EXTRA_CA_CERTS !== undefined && { NODE_EXTRA_CA_CERTS }),
    BINDERY_CACHE: cacheFolder(),
    npm_config_loglevel: 'error',
    PATH: `${programs}:/usr/bin:/bin`,
  };
}

/** Runs a command and returns its output and the processor time of its processes. */
async function timed(command: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  // `times` of the shell ends with the user and system time of its children.
  const { stdout, stderr } = await run('/bin/sh', ['-c', '"$@" || exit; times', 'sh', ...command], options);
  const lines = stdout.trimEnd().split('\n');
  const times = (lines.pop() ?? '').split(' ').map((time) => {
    const [, minutes = '', seconds = ''] = /^(\d+)m([\d.]+)s$/.exec(time) ?? [];
    return (Number(minutes) * 60 + Number(seconds)) * 1000;
  });
  lines.pop();
  return { text: lines.join('\n'), stderr, processorMs: times.reduce((sum, each) => sum + each, 0) };
}

describeWithServers(['nats-server'], 'the package that npm pack makes', () => {
  let file: string;
  beforeAll(async () => {
    file = await pack();
  });

  const folders = new Map<NodeMajor, string>();

  /** Where the package was installed by one version of Node, and an environment to run it with that or another one. */
  async function installed(major: NodeMajor, runBy = major) {
    const programs = await nodeProgramsOf(major);
    const others = await nodeProgramsOf(runBy);
    if (programs === undefined || others === undefined) return undefined;
    const cwd = folders.get(major) ?? newFolder();
    if (!folders.has(major))
      await run('npm', ['install', '--no-audit', '--no-fund', file], { cwd, env: environmentOf(programs) });
    folders.set(major, cwd);
    return { cwd, env: environmentOf(others) };
  }

  test.for([22, 24] as const)(
    'checks, begins, serves and exports on Node %s, in a folder with nothing else',
    async (major, { skip }) => {
      const options = await installed(major);
      if (options === undefined) return skip('npm has no Node for this system');
      const program = [join(options.cwd, 'node_modules/.bin/bindery')];
      expect((await run('node', ['--version'], options)).stdout).toMatch(`v${major}.`);

      const { version } = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')) as { version: string };
      const versioned = await timed([...program, '--version'], options);
      expect(versioned).toMatchObject({ text: version, stderr: '' });

      await run('npx', ['bindery', 'init', 'guide', '--yes'], options);
      const checked = await timed([...program, 'check', 'guide'], options);
      expect(checked.text).toContain('4 pages: no problems.');
      console.log(
        `Node ${major}, processor time: --version ${versioned.processorMs} ms, check ${checked.processorMs} ms`,
      );

      const folder = join(options.cwd, 'guide');
      const editor = await startEditor({ folder, command: program, ...options });
      await editor.open('index.mdx', '[Somewhere](/gone)\n');
      await expect.poll(() => editor.codesOf('index.mdx'), { timeout: 60_000 }).toEqual(['broken-link']);
      editor.connection.dispose();
      editor.child.stdin?.end();
      await editor.ended;

      const [port = 0, sites = 0, consolePort = 0] = await freePorts(3);
      const env = {
        ...options.env,
        BINDERY_PORT: String(port),
        BINDERY_DOCS_HOST_PORT: String(sites),
        BINDERY_CONSOLE_PORT: String(consolePort),
      };
      const child = spawn('npx', ['bindery', 'start'], {
        ...options,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
      const ended = once(child, 'close');
      try {
        await new Promise<void>((resolve, reject) => {
          child.stdout.setEncoding('utf8').on('data', (text: string) => {
            said += text;
            if (said.includes('Ctrl-C stops it.')) resolve();
          });
          void ended.then(() => reject(new Error(`it ended: ${said}`)));
        });
        expect(said).not.toMatch(/warning/i);
        expect(said).toContain('npx bindery ask demo');
        expect(said).not.toContain('npm run');
        const page = await askHost(`http://127.0.0.1:${sites}`, `demo.localhost:${sites}`);
        expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<title>') });

        const asked = await run('npx', ['bindery', 'ask', 'demo', 'What is a bundle?'], options);
        expect(asked.stdout).toContain('/concepts/bundle');
        await run('npx', ['bindery', 'publish', 'guide', '--domain', 'demo'], options);
        const own = await askHost(`http://127.0.0.1:${sites}`, `demo.localhost:${sites}`, '/quickstart');
        expect(own.text).toContain('From nothing to the first result in five minutes.');
        await run('npx', ['bindery', 'export', 'demo', '--wait', '--out', 'site.tar.gz'], options);
        expect((await readFile(join(options.cwd, 'site.tar.gz'))).length).toBeGreaterThan(10_000);
      } finally {
        // As Ctrl-C does: npx alone would leave its command running. The output closes when every process has ended.
        process.kill(-(child.pid ?? 0), 'SIGINT');
        await ended;
      }
    },
  );

  test('has the script of the widget with the bytes that a gateway serves, and its types', async ({ skip }) => {
    const options = await installed(24);
    if (options === undefined) return skip('npm has no Node for this system');
    const folder = join(options.cwd, 'node_modules/bindery/dist');
    expect((await readFile(join(folder, 'widget.js'))).equals((await widgetFile()).text)).toBe(true);
    const code = `import 'bindery/dist/widget.js';
      import type { WidgetOptions } from 'bindery/dist/widget.js';
      const options: WidgetOptions = { domain: 'docs', target: document.body };
      window.BinderyWidget.init(options).on('answer', ({ text }) => text.length);`;
    await writeFile(join(options.cwd, 'page.ts'), code);
    const compiler = join(clone, 'node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', '--lib', 'es2024,dom', '--module', 'preserve', '--types', ''];
    expect((await run('node', [compiler, ...flags, 'page.ts'], options)).stdout).toBe('');
  });

  test('says on Node 20 which Node it needs and how to get it', async ({ skip }) => {
    const options = await installed(24, 20);
    if (options === undefined) return skip('npm has no Node for this system');
    const refused = await run('npx', ['bindery', 'check', '.'], options).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused).toHaveProperty(
      'stderr',
      expect.stringMatching(/^Bindery needs Node 22\.19 or later, and this is Node 20\..*bindery check \."/),
    );
  });

  test('names the package that it lacks for a server', async ({ skip }) => {
    const options = await installed(24);
    if (options === undefined) return skip('npm has no Node for this system');
    const env = { ...options.env, BINDERY_REDIS_URL: 'redis://127.0.0.1:1' };
    const refused = await run('npx', ['bindery', 'doctor'], { ...options, env }).catch((error: unknown) => error);
    expect(refused).toHaveProperty('stdout', expect.stringMatching(/npm install ioredis@\d/));
  });
});
