import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';

const script = join(import.meta.dirname, 'pin-base-image.mjs');
const before = `# syntax\nARG NODE_IMAGE=docker.io/library/node:24.1.0-slim@sha256:${'a'.repeat(64)}\n\nFROM \${NODE_IMAGE} AS packages\n`;
const digest = `sha256:${'b'.repeat(64)}`;
const both = ['amd64', 'arm64'].map((architecture) => ({ platform: { os: 'linux', architecture } }));

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

/** Runs the script with a fake Docker that prints `answer`. Returns the exit status, the output, the Dockerfile afterwards, and Docker's arguments. */
function pin(answer: unknown, { text = before, args = [] as string[] } = {}) {
  const dockerfile = join(folder, 'Dockerfile');
  writeFileSync(dockerfile, text);
  writeFileSync(join(folder, 'answer'), JSON.stringify(answer));
  writeFileSync(join(folder, 'docker'), `#!/bin/sh\necho "$@" > ${folder}/asked\ncat ${folder}/answer\n`);
  chmodSync(join(folder, 'docker'), 0o755);
  const env = { PATH: `${folder}:${process.env['PATH']}`, BINDERY_DOCKERFILE: dockerfile };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' });
  return {
    status,
    said: stdout + stderr,
    text: readFileSync(dockerfile, 'utf8'),
    asked: () => readFileSync(join(folder, 'asked'), 'utf8'),
  };
}

test('the current tag gets its current digest', () => {
  const { status, text, asked } = pin({ digest, manifests: both });
  expect(status).toBe(0);
  expect(text).toBe(before.replace(`sha256:${'a'.repeat(64)}`, digest));
  expect(asked()).toContain('inspect docker.io/library/node:24.1.0-slim ');
});

test('another tag is written together with its digest', () => {
  const { text } = pin({ digest, manifests: both }, { args: ['24.2.0-slim'] });
  expect(text).toContain(`ARG NODE_IMAGE=docker.io/library/node:24.2.0-slim@${digest}\n`);
});

test.each([
  ['has no digest', { manifests: both }, 'gave no digest'],
  ['has another digest', { digest: 'md5:1', manifests: both }, 'gave no digest'],
  ['has one platform only', { digest, manifests: both.slice(1) }, 'has no image for linux/amd64'],
  ['is no index', { digest }, 'has no image for linux/amd64 and linux/arm64'],
])('an image that %s changes nothing', (_what, answer, why) => {
  const { status, said, text } = pin(answer);
  expect([status, text]).toEqual([1, before]);
  expect(said).toContain(`The base image was not changed: `);
  expect(said).toContain(why);
});

test('a Dockerfile without a digest is left unchanged', () => {
  const text = 'ARG NODE_IMAGE=docker.io/library/node:24\n';
  expect(pin({ digest, manifests: both }, { text })).toMatchObject({ status: 1, text });
});
