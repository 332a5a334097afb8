/*
 * Builds the start-up snapshot of a child: `node build-snapshot.ts <entry> <file> [addons]`. Node runs the script of the child up to the point where
 * it would serve, and writes its heap to the file.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isPackaged } from '#shared/runtime/installed-packages.ts';
import { featureArguments } from './child.ts';
import { scriptOfPackage, snapshotScript, withPlaces } from './snapshot-script.ts';

const root = new URL('../../../', import.meta.url);
const [entry = '', file = '', addons] = process.argv.slice(2);
const script = isPackaged
  ? await readFile(scriptOfPackage(entry), 'utf8')
  : await snapshotScript(entry, fileURLToPath(root));
const filled = `${file}.cjs`;
await writeFile(filled, await withPlaces(script, root.href));
await promisify(execFile)(process.execPath, [
  ...featureArguments({ addons: addons !== undefined }),
  '--snapshot-blob',
  file,
  '--build-snapshot',
  filled,
]);
