import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';

const folder = import.meta.dirname;
const run = promisify(execFile);

type Step = { run: string; env: Record<string, string> };
type Action = { inputs: Record<string, { default?: string }>; runs: { steps: Step[] } };
type Job = { script?: string[]; variables?: Record<string, string>; extends?: string };

/** A folder with an `npx` that writes its arguments into a file and answers as `bindery publish --json` does. */
function stand() {
  const programs = newFolder();
  const log = join(programs, 'log');
  writeFileSync(log, '');
  const answer = '{"contentVersion":"cv_1","pages":3,"address":"https://pr-12.docs.example","diagnostics":[]}';
  writeFileSync(
    join(programs, 'npx'),
    `#!/bin/sh\nprintf '%s|' "$@" >> "${log}"; echo >> "${log}"\ncase "$*" in *--json*) echo '${answer}';; esac\nexit "\${FAIL:-0}"\n`,
  );
  chmodSync(join(programs, 'npx'), 0o755);
  const path = [programs, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  return { path, calls: () => readFileSync(log, 'utf8').trim().split('\n').filter(Boolean) };
}

/** Runs the steps of the action as a runner does: inputs and their defaults in the variables of each step, and `bash -e`. */
async function runAction(given: Record<string, string>, environment: Record<string, string>): Promise<string> {
  const action = load(readFileSync(join(folder, 'action.yml'), 'utf8')) as Action;
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, { default: value = '' }]) => [name, given[name] ?? value]),
  );
  let said = '';
  for (const { run: script, env } of action.runs.steps) {
    const own = Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ inputs\.(\w+) \}\}/g, (_, input: string) => inputs[input] ?? ''),
    ]);
    const { stdout } = await run('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', script], {
      env: { ...environment, ...Object.fromEntries(own), GITHUB_ACTION_PATH: folder },
    });
    said += stdout;
  }
  return said;
}

const inputs = { folder: 'my docs', domain: 'docs', url: 'https://bindery.example', key: 'svc_x', token: 'ghs_x' };

test('a pull request is checked and published as a preview, with one comment that the second run updates', async () => {
  const comments: { id: number; body: string; url: string }[] = [];
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(`${request.method} ${request.url}`);
    const { port } = server.address() as { port: number };
    const sent = request.method === 'GET' ? undefined : (JSON.parse(await text(request)) as { body: string });
    if (request.method === 'POST')
      comments.push({ id: 1, body: sent?.body ?? '', url: `http://127.0.0.1:${port}/repos/o/r/issues/comments/1` });
    if (request.method === 'PATCH' && comments[0] !== undefined) comments[0].body = sent?.body ?? '';
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(request.method === 'GET' ? comments : {}));
  };
  const server = createServer((request, response) => void answer(request, response));
  const api = await onLoopback(server);
  try {
    const { path, calls } = stand();
    const environment = {
      PATH: path,
      GITHUB_REF: 'refs/pull/12/merge',
      GITHUB_API_URL: api.url,
      GITHUB_REPOSITORY: 'o/r',
    };
    await runAction(inputs, environment);
    expect(calls()).toEqual([
      '--yes|--package|bindery|bindery|check|my docs|--format|github|',
      '--yes|--package|bindery|bindery|publish|my docs|--domain|docs|--label|pr-12|--preview|--json|',
    ]);
    await runAction(inputs, environment);
    expect(comments).toHaveLength(1);
    expect(comments[0]?.body).toContain('https://pr-12.docs.example');
    expect(asked.at(-1)).toBe('PATCH /repos/o/r/issues/comments/1');
  } finally {
    await api.close();
  }
});

test('the main branch goes live, another branch is only checked, and a failed check publishes nothing', async () => {
  const { path, calls } = stand();
  await runAction(inputs, { PATH: path, GITHUB_REF: 'refs/heads/main' });
  expect(calls()[1]).toBe('--yes|--package|bindery|bindery|publish|my docs|--domain|docs|--json|');
  await runAction(inputs, { PATH: path, GITHUB_REF: 'refs/heads/topic' });
  expect(calls()).toHaveLength(3);
  await expect(runAction(inputs, { PATH: path, GITHUB_REF: 'refs/heads/main', FAIL: '1' })).rejects.toThrow(
    'Command failed',
  );
  expect(calls()).toHaveLength(4);
});

test('the jobs of the GitLab template check, publish a preview of a merge request, and publish the default branch', async () => {
  const { path, calls } = stand();
  const template = load(readFileSync(join(folder, 'gitlab.yml'), 'utf8')) as Record<string, Job>;
  const cwd = newFolder();
  mkdirSync(join(cwd, 'docs'));
  for (const { script = [], extends: base } of Object.values(template)) {
    const { variables = {} } = template[base ?? ''] ?? {};
    const environment = { DOCS_DOMAIN: 'docs', CI_MERGE_REQUEST_IID: '7', PATH: path };
    if (script.length > 0)
      await run('bash', ['-e', '-o', 'pipefail', '-c', script.join('\n')], {
        cwd,
        env: { ...variables, ...environment },
      });
  }
  expect(calls()).toEqual([
    '--yes|--package|bindery|bindery|check|.|--format|junit|',
    '--yes|--package|bindery|bindery|publish|.|--domain|docs|--label|mr-7|--preview|',
    '--yes|--package|bindery|bindery|publish|.|--domain|docs|',
  ]);
});
