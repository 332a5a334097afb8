import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messageOf } from '#shared/runtime/failures.ts';
import { agentTools, programOf } from '../support/agent-tools.ts';
import { openTestSite } from '../support/agent-gateway.ts';
import { skipSuite } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { logInAt, siteOfAgents } from '../support/site-of-agents.ts';

const found = await agentTools().then(
  (packages) => ({ packages }),
  (error: unknown) => ({ problem: messageOf(error) }),
);
const title = 'released tools of agents';
if ('packages' in found) describe(title, () => suite(found.packages));
else skipSuite(title, `npm could not get them: ${found.problem.slice(0, 300)}`, () => test('skipped', () => {}));

/** The scenarios of the suite of conformance that need no tools of its own, with the checks that pass in each. */
const conformance = [
  [
    'conformance-0.1.16',
    [],
    {
      'server-initialize': 1,
      ping: 1,
      'completion-complete': 1,
      'tools-list': 1,
      'resources-list': 1,
      'prompts-list': 1,
      'dns-rebinding-protection': 2,
    },
  ],
  [
    'conformance-0.2.0',
    ['--requirements', '2026-07-28'],
    {
      // Six more checks need diagnostic tools or subscriptions, which this server does not have.
      'server-stateless': 22,
      'completion-complete': 2,
      'tools-list': 4,
      'resources-list': 2,
      'sep-2164-resource-not-found': 4,
      'prompts-list': 2,
      'dns-rebinding-protection': 2,
      caching: 8,
      'input-required-result-unsupported-methods': 2,
      'input-required-result-validate-input': 3,
      'http-header-validation': 14,
    },
  ],
] as const;

function suite(packages: string): void {
  let site: Awaited<ReturnType<typeof siteOfAgents>>;
  let open: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    site = await siteOfAgents();
    await openTestSite(site.gateway, site.gateway.acme, { assistant: true, login: { kind: 'none' } });
    open = `${site.gateway.url}/discovery/v1/mcp/docs`;
    const home = newFolder();
    // The tools must not open a browser, and must not read the files of the person who runs the tests.
    for (const opener of ['xdg-open', 'open']) writeFileSync(join(home, opener), '#!/bin/sh\n', { mode: 0o755 });
    const path = [home, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
    env = { PATH: path, HOME: home, MCP_REMOTE_CONFIG_DIR: join(home, 'mcp-remote'), NO_COLOR: '1' };
  }, 120_000);
  afterAll(() => site?.close());

  /** Runs a program to its end, whatever its code is. */
  const run = (file: string, args: readonly string[]): Promise<{ code: number; output: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, [file, ...args], { env, cwd: env['HOME'], maxBuffer: 50_000_000 }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: out + (error === null ? '' : err) }),
      );
    });

  test.each(['0.22.0', '1.0.3', '2.12.0'])('inspector %s lists, calls, reads and prompts', async (version) => {
    const inspector = programOf(packages, `inspector-${version}`, 'mcp-inspector');
    const ask = async (...args: string[]) => {
      const { code, output } = await run(inspector, ['--cli', open, '--transport', 'http', ...args]);
      expect([args, code, output.slice(0, 500)]).toEqual([args, 0, expect.any(String)]);
      return output;
    };
    const prompt = ['--prompt-name', 'answer_from_docs', '--prompt-args', 'question=How?'];
    const asked: [string, string[]][] = [
      ['"find_in_pages"', ['tools/list']],
      ['guides/keys', ['tools/call', '--tool-name', 'search', '--tool-arg', 'query=rotate a key']],
      ['docs://pages/guides/keys', ['resources/list']],
      ['## Rotate a key', ['resources/read', '--uri', 'docs://pages/guides/keys']],
      ['Question: How?', ['prompts/get', ...prompt]],
    ];
    await Promise.all(
      asked.map(async ([expected, args]) => expect(await ask('--method', ...args)).toContain(expected)),
    );
  });

  test.each(conformance)('%s', async (installed, args, scenarios) => {
    const program = programOf(packages, installed, 'conformance');
    const { output } = await run(program, ['server', '--url', open, ...args]);
    const counts = Object.fromEntries(
      [...output.matchAll(/^[✓✗] ([\w-]+): (\d+) passed/gm)].map(([, name = '', passed]) => [name, Number(passed)]),
    );
    for (const [name, passed] of Object.entries(scenarios))
      expect([name, counts[name] ?? output.slice(-2_000)]).toEqual([name, passed]);
  });

  test('mcp-remote logs a writer in at the provider of a closed site, and passes messages on', async () => {
    const remote = spawn(
      process.execPath,
      [programOf(packages, 'mcp-remote-0.15.1', 'mcp-remote'), site.endpoint, '--transport', 'http-only'],
      { env, cwd: env['HOME'], stdio: ['pipe', 'pipe', 'pipe'] },
    );
    const said: string[] = [];
    const answers: string[] = [];
    createInterface(remote.stderr).on('line', (line) => said.push(line));
    createInterface(remote.stdout).on('line', (line) => answers.push(line));
    try {
      const send = (message: object): void =>
        void remote.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const asked = () => said.map((line) => /(http\S+[?&]client_id=\S+)/.exec(line)?.[1]).find(Boolean);
      await expect.poll(asked).toBeDefined();
      const back = await logInAt(new URL(asked() ?? ''), 'ada');
      expect((await fetch(back)).status).toBe(200);
      const clientInfo = { name: 'test', version: '1' };
      send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
      await expect.poll(() => answers.join('\n')).toContain('"protocolVersion":"2025-06-18"');
      send({ method: 'notifications/initialized' });
      send({ id: 2, method: 'tools/call', params: { name: 'search', arguments: { query: 'rotate a key' } } });
      await expect.poll(() => answers.join('\n')).toContain('guides/keys');
    } finally {
      const ended = once(remote, 'exit');
      remote.kill('SIGKILL');
      await ended;
    }
  });
}
