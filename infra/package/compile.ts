import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { digestsFile, sourceDigests } from '#shared/docs/render/source-digests.ts';

/** Folders of the clone whose code and files a package has. */
const packed = ['services', 'shared', 'infra/docs', 'infra/setup', 'infra/supervisor'];

/** Files that only tests, development and the image need. */
const isLeftOut = (path: string): boolean =>
  /\.(test|contract)\.m?ts$|\.test\.mjs$|(^|\/)test-[^/]*$|(^|\/)(golden|__snapshots__)$|\.golden\.json$/.test(path) ||
  /^services\/cli\/docs-reference$|^infra\/setup\/(prepare|run-tests|servers|fetch-test-servers|install-packages|compared-commit)\./.test(
    path,
  );

/** Modules keep their names but for the ending. A specifier and an address beside `import.meta.url` are strings that begin like this. */
const ofModules = /(['"`])((?:\.{1,2}\/|#)[^'"`\n]*)\.ts\1/g;

/** Compiled modules have other names, and as many characters, so that the places in source maps are those of the sources. */
const withCompiledNames = (code: string): string => code.replaceAll(ofModules, '$1$2.js$1');

/**
 * Compiles the clone in `root` into the empty folder `target`: JavaScript with types and source maps, and beside it the files that it reads. The clone
 * is not changed. Rejects with the compiler's output.
 */
export async function compile(root: string, target: string): Promise<void> {
  const sources = join(target, 'sources');
  await mkdir(sources, { recursive: true });
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { name, version, type, imports } = manifest;
  const own = `${JSON.stringify({ name, version, type, imports }, undefined, 2)}\n`;
  await writeFile(join(sources, 'package.json'), own);
  for (const folder of packed) await stage(root, folder, sources, target);
  const base = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: object };
  const compilerOptions = {
    ...base.compilerOptions,
    noEmit: false,
    allowImportingTsExtensions: false,
    declaration: true,
    sourceMap: true,
    rootDir: '.',
    outDir: '..',
    typeRoots: [join(root, 'node_modules', '@types')],
  };
  await writeFile(join(sources, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: packed, exclude: [] }));
  try {
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', sources]);
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string };
    throw new Error(`The package cannot be compiled:\n${stdout.slice(0, 4_000)}`, { cause: error });
  }
  await rm(sources, { recursive: true });
  await writeFile(join(target, 'package.json'), own);
  await writeFile(join(target, digestsFile), JSON.stringify(await sourceDigests(['shared/'])));
  await checkAddresses(target);
}

/** Puts the TypeScript files of a folder into `sources`, and its other files into `target`. */
async function stage(root: string, folder: string, sources: string, target: string): Promise<void> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (isLeftOut(path)) continue;
    if (entry.isDirectory()) {
      await stage(root, path, sources, target);
      continue;
    }
    const isModule = /\.m?[jt]s$/.test(path) && !path.startsWith('infra/docs/');
    const into = /\.m?ts$/.test(path) && isModule ? [sources] : [target];
    if (path.endsWith('.d.mts')) into.push(target);
    if (path.endsWith('.mjs') && isModule) into.push(sources);
    for (const place of into) {
      await mkdir(join(place, folder), { recursive: true });
      if (!isModule) await cp(join(root, path), join(place, path));
      else await writeFile(join(place, path), withCompiledNames(await readFile(join(root, path), 'utf8')));
    }
  }
}

/** A module that names another by its address is compiled without a check that it is there. Rejects for an address without a file. */
async function checkAddresses(target: string): Promise<void> {
  const missing: string[] = [];
  for (const name of await readdir(target, { recursive: true })) {
    if (!/\.m?js$/.test(name)) continue;
    const text = await readFile(join(target, name), 'utf8');
    for (const [, address = ''] of text.matchAll(/new URL\(['"](\.[^'"]*)['"],\s*import\.meta\.url\)/g))
      if (!existsSync(join(target, dirname(name), address))) missing.push(`${name}: ${address}`);
  }
  if (missing.length > 0)
    throw new Error(`These modules name files that the package does not have: ${missing.join(', ')}`);
}
