import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, posix, relative } from 'node:path';
import { type InputOptions, type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { ownAddresses, placeholder, placeholdersOf } from '#shared/docs/sandbox/own-addresses.ts';
import { scriptOfPackage, snapshotScript } from '#shared/docs/sandbox/snapshot-script.ts';
import { digestsFile, sourceDigests } from '#shared/docs/render/source-digests.ts';
import { bundledPackagesFile, copiedPackages, type LockedPackage } from '#shared/runtime/installed-packages.ts';
import { writeNotices } from './notices.ts';
import { isBundled } from './package-manifest.ts';

/** Folders of the clone whose code and files a package has. */
const packed = ['services', 'shared', 'infra/docs', 'infra/setup', 'infra/supervisor'];

/** Folder of the modules that several entries share. Children may read `shared`. */
const chunkFolder = 'shared/chunks';

/** Programs of children that start from a snapshot: `withSnapshot` finds the script of each beside its module. */
const snapshotEntries = [
  'services/cli/dev/site-child.ts',
  'services/indexer/read-page-child.ts',
  'services/publisher/unpack-child.ts',
  'shared/docs/project/project-child.ts',
  'shared/docs/render/render-child.ts',
];

const command = 'services/cli/bindery.mjs';

/** Files that only tests, development and the image need. */
const isLeftOut = (path: string): boolean =>
  /\.(test|contract)\.m?ts$|\.test\.mjs$|(^|\/)test-[^/]*$|(^|\/)(golden|__snapshots__)$|\.golden\.json$/.test(path) ||
  /^services\/cli\/docs-reference$|^infra\/setup\/(prepare|run-tests|servers|fetch-test-servers|install-packages|compared-commit)\./.test(
    path,
  );

/** Modules end up in bundles; other files, among them scripts for browsers, are copied. */
const isModule = (path: string): boolean =>
  /\.m?ts$/.test(path) || (path.endsWith('.mjs') && /^(infra|services\/cli)\//.test(path));

/** The address of another module: programs that run as processes or threads of their own. */
const namedProgram = /(new URL\(['"])(\.[^'"]*)\.ts(['"],\s*import\.meta\.url\))/g;

/** Modules keep their names but for the ending. */
const compiledName = (path: string): string => path.replace(/\.ts$/, '.js');

/**
 * Compiles the clone in `root` into the empty folder `target`: JavaScript with source maps, in which each program has its modules and those of the
 * packages in a few files, because reading a thousand small ones takes most of the time of a short command. The files that programs read are beside
 * it, as are licence texts of the packages. The clone is not changed. Rejects with the first warning of the bundler.
 */
export async function compile(root: string, target: string): Promise<void> {
  const modules: string[] = [];
  for (const folder of packed) await stage(root, folder, target, modules);
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { name, version, type } = manifest;
  await writeFile(join(target, 'package.json'), `${JSON.stringify({ name, version, type }, undefined, 2)}\n`);
  const entries = await entriesOf(root, modules);
  const chunks = [...(await bundlePrograms(root, target, entries)), ...(await bundleCommand(root, target))];
  for (const entry of snapshotEntries) await writeSnapshotScript(root, target, entry);
  await writeFile(join(target, digestsFile), JSON.stringify(await sourceDigests(['shared/'])));
  await writeFile(join(target, bundledPackagesFile), JSON.stringify(await packagesOf(root)));
  const bundled = chunks.flatMap(({ moduleIds }) => moduleIds.filter((id) => id.includes('/node_modules/')));
  const copied = await copyPackageFiles(root, target, modules);
  await writeNotices([...bundled, ...copied], join(target, 'THIRD-PARTY-NOTICES.txt'));
}

/** The versions and digests of the packages that programs need, from the lock file of the clone. */
async function packagesOf(root: string): Promise<Record<string, LockedPackage>> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage & { dev?: boolean }>;
  };
  const needed = Object.entries(packages).filter(([place, { dev }]) => place !== '' && dev !== true);
  return Object.fromEntries(
    needed.map(([place, { version, integrity, dependencies }]) => [place, { version, integrity, dependencies }]),
  ) as Record<string, LockedPackage>;
}

/** Copies the files of a folder that are no modules into `target`, and adds the paths of its modules. */
async function stage(root: string, folder: string, target: string, modules: string[]): Promise<void> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (isLeftOut(path)) continue;
    if (entry.isDirectory()) await stage(root, path, target, modules);
    else if (isModule(path) && !path.startsWith('infra/docs/')) modules.push(path);
    else {
      await mkdir(join(target, folder), { recursive: true });
      await cp(join(root, path), join(target, path));
    }
  }
}

/** Copies the files of packages that these modules name. A part of a name that is known later stands for all that is there. Returns their places. */
async function copyPackageFiles(root: string, target: string, modules: readonly string[]): Promise<string[]> {
  const copied: string[] = [];
  for (const module of modules) {
    const text = await readFile(join(root, module), 'utf8');
    for (const [, , name = ''] of text.matchAll(/packageFile\((['`])([^'`]+)\1\)/g)) {
      const [start = '', end] = name.split(/\$\{[^}]*\}/);
      const folder = join(root, 'node_modules', end === undefined ? dirname(start) : start);
      const files =
        end === undefined ? [basename(start)] : (await readdir(folder)).filter((each) => each.endsWith(end));
      if (files.length === 0) throw new Error(`${module} names files that are not there: ${name}`);
      for (const file of files) {
        const place = join(end === undefined ? dirname(start) : start, file);
        await cp(join(root, 'node_modules', place), join(target, copiedPackages, place));
        copied.push(join(root, 'node_modules', place));
      }
    }
  }
  return copied;
}

/** The modules that are loaded by their names: the commands, and the programs of children and threads. */
async function entriesOf(root: string, modules: readonly string[]): Promise<string[]> {
  const entries = new Set(modules.filter((path) => /^services\/cli\/(main|commands\/[^/]+)\.ts$/.test(path)));
  for (const path of modules) {
    const text = await readFile(join(root, path), 'utf8');
    for (const [, , address = ''] of text.matchAll(namedProgram))
      entries.add(`${posix.join(dirname(path), address)}.ts`);
  }
  return [...entries].sort();
}

async function bundlePrograms(root: string, target: string, entries: readonly string[]): Promise<OutputChunk[]> {
  const input = Object.fromEntries(entries.map((path) => [path.replace(/\.ts$/, ''), join(root, path)]));
  const bundle = await rolldown({ ...options(root), input });
  const { output } = await bundle.write({
    dir: target,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${chunkFolder}/[name]-[hash].js`,
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await bundle.close();
  return output.filter((file) => file.type === 'chunk');
}

/** The command is one file of its own, because "--version" loads nothing else. */
async function bundleCommand(root: string, target: string): Promise<OutputChunk[]> {
  const main: Plugin = {
    name: 'main-of-package',
    transform: (code) => ({ code: code.replace(`'./main.ts'`, `'./main.js'`), map: null }),
  };
  const { plugins, ...rest } = options(root);
  const bundle = await rolldown({ ...rest, plugins: [main, plugins], input: join(root, command) });
  const { output } = await bundle.write({ dir: target, entryFileNames: command, format: 'esm', codeSplitting: false });
  await bundle.close();
  return output.filter((file) => file.type === 'chunk');
}

async function writeSnapshotScript(root: string, target: string, entry: string): Promise<void> {
  const script = await snapshotScript(join(root, entry), root, [namesOfPrograms]);
  await writeFile(join(target, scriptOfPackage(compiledName(entry))), withCompiledNames(script));
}

const options = (root: string): InputOptions => ({
  platform: 'node',
  cwd: root,
  external: (id) => /^[@a-z]/.test(id) && !isBundled(id),
  plugins: [namesOfPrograms, ownAddresses(root), addressesInChunks],
  checks: { bundlerTimings: false },
  onLog(level, log) {
    if (level === 'warn') throw new Error(`The package cannot be compiled: ${log.message}`);
  },
});

const namesOfPrograms: Plugin = {
  name: 'names-of-programs',
  // A transform without a map keeps the lines: only the ends of names change.
  transform: (code) => ({ code: code.replaceAll(namedProgram, '$1$2.js$3'), map: null }),
};

/** Bundled modules know the places that they would have in the package, from the place of the file that has them. */
const addressesInChunks: Plugin = {
  name: 'addresses-in-chunks',
  renderChunk(code, { fileName }) {
    const toRoot = relative(dirname(fileName), '.');
    const placed = withCompiledNames(code)
      .replaceAll(placeholdersOf('file'), `new URL("${toRoot}/$1", import.meta.url).href`)
      .replaceAll(placeholdersOf('folder'), `(import.meta.dirname + "/${toRoot}/$1")`);
    return { code: placed, map: null };
  },
};

const withCompiledNames = (code: string): string =>
  code.replaceAll(placeholdersOf('file'), (_, path: string) => placeholder('file', compiledName(path)));
