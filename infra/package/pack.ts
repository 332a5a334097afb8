/*
 * Run by `npm pack` in a clone: "pack.ts before" compiles the clone into `dist` and puts the package's own package.json and npm-shrinkwrap.json in
 * place, because npm packs those of the folder; "pack.ts after" puts those of the clone back. After a pack that was interrupted, `git checkout
 * package.json` does. The modules that do the work are loaded later, because without the clone's package.json their names mean nothing.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const manifestFile = join(root, 'package.json');
const shrinkwrapFile = join(root, 'npm-shrinkwrap.json');
const compiled = join(root, 'dist');
const kept = join(compiled, 'package.json.of-the-clone');

async function putBack(): Promise<void> {
  await rm(shrinkwrapFile, { force: true });
  if (existsSync(kept)) await rename(kept, manifestFile);
}

async function prepare(): Promise<void> {
  const { compile } = await import('./compile.ts');
  const { writeWidget } = await import('./widget.ts');
  const { packageManifest, packageShrinkwrap } = await import('./package-manifest.ts');
  await rm(shrinkwrapFile, { force: true });
  await rm(compiled, { recursive: true, force: true });
  await mkdir(compiled);
  await compile(root, compiled);
  await writeWidget(root, compiled);
  const manifest = packageManifest(JSON.parse(await readFile(manifestFile, 'utf8')) as object);
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as object;
  const shrinkwrap = packageShrinkwrap(lock, manifest);
  await copyFile(manifestFile, kept);
  await writeFile(shrinkwrapFile, asFile(shrinkwrap));
  await writeFile(manifestFile, asFile(manifest));
}

const asFile = (json: object): string => `${JSON.stringify(json, undefined, 2)}\n`;

const step = { before: prepare, after: putBack }[process.argv[2] ?? ''];
if (step === undefined) {
  process.stderr.write('usage: node infra/package/pack.ts before|after\n');
  process.exit(64);
}
await step();
