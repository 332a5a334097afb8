import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { withLock } from './cache.mjs';
import { lastLines, runProgram, say, StepFailed, timed } from './steps.mjs';

const nodeNeeded = 24;

/**
 * Installs the packages of package-lock.json, among them a Node that runs TypeScript files: npm puts `node_modules/.bin` first on the
 * path of the script that follows. @throws StepFailed
 */
export async function installPackages(root) {
  await installOnce(root, 'installs the npm packages');
  await checkNode(root);
}

/**
 * Installs Stryker as `test/mutation/tools/package-lock.json` pins it. It is installed there, not in the cache, because it must find the vitest of this
 * clone in a folder above. @throws StepFailed
 */
export const installMutationTools = (root) =>
  installOnce(join(root, 'test', 'mutation', 'tools'), 'gets Stryker for mutation testing (60 MB)');

async function installOnce(folder, line) {
  if (isInstalled(folder)) return;
  const name = `packages-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`;
  await withLock(name, async () => {
    if (!isInstalled(folder)) await timed(line, () => install(folder));
  });
}

/** True if the list that npm left in node_modules has every package of the lock file; packages for other systems may be absent. */
export function isInstalled(root) {
  try {
    const wanted = readPackages(join(root, 'package-lock.json'));
    const present = readPackages(join(root, 'node_modules', '.package-lock.json'));
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === '') return true;
      const found = present[path];
      return found === undefined ? entry.optional === true && !isForThisSystem(entry) : found.version === entry.version;
    });
  } catch {
    return false;
  }
}

/** True for a package that names this system as one of its own. An optional package without a system is a dependency of one with a system. */
function isForThisSystem({ os = [], cpu = [], libc }) {
  if (![os].flat().includes(process.platform) || ![cpu].flat().includes(process.arch)) return false;
  return libc === undefined || libc.includes(process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl');
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

async function install(root) {
  // The Node in node_modules must not run the npm that replaces it.
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const options = { cwd: root, env: { PATH: path.join(delimiter) } };
  const clean = await runProgram('npm', ['ci', '--no-audit', '--no-fund'], options);
  if (clean.code === 0) return;
  say(
    `npm ci refused package-lock.json (${npmReason(clean.output)}); npm install may add the missing entries from the registry`,
  );
  const any = await runProgram('npm', ['install', '--no-audit', '--no-fund'], options);
  if (any.code === 0) return;
  throw new StepFailed(
    `the npm packages could not be installed: ${npmReason(any.output)}\nCheck with \`npm ping\` that the registry answers, then run this again.`,
  );
}

/** The lines of npm's output that name the problem, without general hints about npm. */
export function npmReason(output) {
  const lines = output.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim());
  const telling = lines.filter(
    (line) =>
      line !== '' &&
      !/^(code |Clean install|Usage:|npm ci|Options:|\[|aliases:|Run "npm|A complete log|In most cases)/.test(line),
  );
  const exact = telling.filter((line) => /^(Missing|Invalid):/.test(line));
  return (exact.length > 0 ? exact : telling).slice(0, 2).join(' / ') || lastLines(output);
}

async function checkNode(root) {
  const bundled = join(root, 'node_modules', '.bin', 'node');
  if (process.execPath.startsWith(join(root, 'node_modules'))) return;
  if (existsSync(bundled)) {
    const { code } = await runProgram(bundled, ['--version'], { timeoutMs: 10_000 });
    if (code === 0) return;
    // This Node is built for glibc. Where it does not run, it must not hide a Node that does.
    say(`the Node ${nodeNeeded} from npm does not run on this system; the one on PATH is used`);
    rmSync(bundled);
  }
  if (Number(process.versions.node.split('.')[0]) >= nodeNeeded) return;
  throw new StepFailed(
    `Bindery needs Node ${nodeNeeded} or later to run TypeScript files, this is ${process.version}, and npm has no Node for ` +
      `${process.platform}-${process.arch}. Install it from https://nodejs.org or with your version manager, and run this again.`,
  );
}
