import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isBundled, packageManifest, packageShrinkwrap } from './package-manifest.ts';

const root = join(import.meta.dirname, '../..');
const clone = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { dev?: boolean; dependencies?: Record<string, string>; engines?: { node?: string } }>;
};

test('the package runs the compiled command and has no scripts, development packages or Node of its own', () => {
  const manifest = packageManifest(clone);
  expect(manifest.bin).toEqual({ bindery: 'dist/services/cli/bindery.mjs' });
  expect(clone['dependencies']).toMatchObject({ ...manifest.dependencies, ...manifest.leftOut });
  expect(manifest.dependencies).not.toHaveProperty('ioredis');
  expect(manifest.leftOut).toHaveProperty('ioredis');
  expect(manifest.dependencies).not.toHaveProperty('zod');
  expect(manifest.dependencies).not.toHaveProperty('rolldown');
  expect(manifest.dependencies).toHaveProperty('satteri');
  expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(['scripts']));
  expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(['devDependencies']));
  expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(['optionalDependencies']));
});

test('the package pins every package that it needs, and no other', () => {
  const { packages } = packageShrinkwrap(lock, packageManifest(clone)) as typeof lock;
  for (const name of Object.keys(packageManifest(clone).dependencies))
    expect(packages).toHaveProperty([`node_modules/${name}`]);
  const paths = Object.keys(packages);
  expect(
    paths.filter((path) => /node-linux|vitest|typescript|biome|@smithy|@grpc|rolldown|zod|fastify/.test(path)),
  ).toEqual([]);
  expect(Object.values(packages).filter(({ dev }) => dev === true)).toEqual([]);
});

test('no package that Bindery needs asks for a newer Node than Bindery does', () => {
  const { packages, ...rest } = packageShrinkwrap(lock, packageManifest(clone)) as typeof lock;
  expect(rest).toMatchObject({ lockfileVersion: 3 });
  const oldest = Object.entries(packages).flatMap(([path, { engines }]) => {
    const [, major, minor = '0'] = /^>=\s*(\d+)(?:\.(\d+))?/.exec(engines?.node ?? '') ?? [];
    return major === undefined || path === '' ? [] : [{ path, needs: Number(major) * 1000 + Number(minor) }];
  });
  expect(oldest.length).toBeGreaterThan(5);
  expect(oldest.filter(({ needs }) => needs > 22_019)).toEqual([]);
});

test('a package is bundled unless it is installed, only for servers, or the bundler', () => {
  expect(['zod', 'zod/v4', '@nats-io/jetstream', 'micromark'].map(isBundled)).toEqual([true, true, true, true]);
  expect(['satteri', '@ai-sdk/mistral', '@parcel/watcher', 'ioredis', 'rolldown'].map(isBundled)).toEqual(
    Array.from({ length: 5 }, () => false),
  );
});
