import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isInstalled, npmReason } from './install-packages.mjs';

const nodeHere = `node_modules/node-${process.platform}-${process.arch}`;
const wanted = {
  '': { name: 'bindery' },
  'node_modules/zod': { version: '4.0.0' },
  'node_modules/node-other': { version: '24.0.0', optional: true, os: ['other'], cpu: [process.arch] },
  [nodeHere]: { version: '24.0.0', optional: true, os: [process.platform], cpu: [process.arch] },
};
const present = { 'node_modules/zod': { version: '4.0.0' }, [nodeHere]: { version: '24.0.0' } };

let root;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bindery-setup-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(found) {
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: wanted }));
  mkdirSync(join(root, 'node_modules'));
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: found }));
}

describe('the npm packages are installed', () => {
  test('when every package of the lock file is present, except those for other systems', () => {
    write(present);
    expect(isInstalled(root)).toBe(true);
  });

  test.each([
    ['another version', { ...present, 'node_modules/zod': { version: '3.9.0' } }],
    ['a missing package', { [nodeHere]: { version: '24.0.0' } }],
    ['no Node for this system', { 'node_modules/zod': { version: '4.0.0' } }],
  ])('and not with %s', (_what, found) => {
    write(found);
    expect(isInstalled(root)).toBe(false);
  });

  test('and not in a fresh clone', () => {
    expect(isInstalled(root)).toBe(false);
  });
});

test("npm's output is reduced to the problem", () => {
  const output = `npm error code EUSAGE
npm error
npm error \`npm ci\` can only install packages when your package.json and package-lock.json are in sync.
npm error
npm error Missing: @biomejs/cli-freebsd-x64@2.5.15 from lock file
npm error
npm error Clean install a project
npm error A complete log of this run can be found in: /tmp/log`;
  expect(npmReason(output)).toBe('Missing: @biomejs/cli-freebsd-x64@2.5.15 from lock file');
});

test('the lock file lists the packages of every system, without which npm ci refuses it', () => {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'));
  const isListed = (path, name) =>
    packages[`${path}node_modules/${name}`] !== undefined ||
    (path !== '' && isListed(path.slice(0, path.lastIndexOf('node_modules/')), name));
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isListed(path === '' ? '' : `${path}/`, name)),
  );
  expect(missing).toEqual([]);
});
