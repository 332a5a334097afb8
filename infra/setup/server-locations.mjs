// Locations of the servers that services and tests need. The fetchers and the code that starts servers share this file, so that both
// look in the same places. Plain JavaScript without dependencies: it runs on Node 20 before anything is installed.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Pinned versions. nats-server has three because its sources publish at different times; each works. */
export const pinnedVersions = {
  natsServerRelease: '2.15.0',
  natsServerWheel: '2.15.1',
  natsServerModule: '2.15.2',
  versitygw: '1.8.0',
  elasticsearch: '9.4.3',
  helm: '4.3.1',
};

/** Oldest nats-server with the features that our streams use. Distributions still have 2.9. */
export const oldestNatsServer = [2, 12];

/** Oldest JDK for Elasticsearch, which needs a full JDK, not a runtime: it uses the module jdk.attach. */
export const oldestJdkForElasticsearch = 21;

/** The folder for downloads, outside the repository. */
export function cacheFolder() {
  return process.env.BINDERY_CACHE || join(homedir(), '.cache', 'bindery');
}

/** The folder of one pinned version in the cache. */
export function cachedFolder(name, version) {
  return join(cacheFolder(), `${name}-${version}`);
}

/** @returns the path of the server's program (of Elasticsearch: its folder), or undefined when it is neither on PATH nor in the cache. */
export function findServer(name) {
  return finders[name]();
}

/** Major and minor version that a nats-server names, or undefined when it does not run. */
export function natsServerVersion(program) {
  try {
    const text = execFileSync(program, ['--version'], {
      encoding: 'utf8',
      timeout: 5_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const found = /v(\d+)\.(\d+)/.exec(text);
    return found ? [Number(found[1]), Number(found[2])] : undefined;
  } catch {
    return undefined;
  }
}

/** Folder of Elasticsearch in the cache, whether it has been fetched or not. */
export function elasticsearchFolder() {
  return cachedFolder('elasticsearch', pinnedVersions.elasticsearch);
}

/** Folder with the `package.json` and `package-lock.json` that pin the released versions of the AI SDK for tests. */
export const sdkVersionsSource = join(import.meta.dirname, '../../test/clients/sdk-versions');

/** Folder of the released versions of the AI SDK in the cache. Its name has a hash of the lock file, so a changed lock file has another folder. */
export function sdkVersionsFolder() {
  const lock = readFileSync(join(sdkVersionsSource, 'package-lock.json'));
  return cachedFolder('sdk-versions', createHash('sha256').update(lock).digest('hex').slice(0, 12));
}

/** True if Elasticsearch has been fetched. To run, it also needs a JDK. */
export function hasElasticsearch() {
  return existsSync(join(elasticsearchFolder(), 'lib', `elasticsearch-${pinnedVersions.elasticsearch}.jar`));
}

/** The newest full JDK (not a runtime only) of at least this version, or undefined. */
export function findJdk(oldest) {
  const folders = [process.env.ES_JAVA_HOME, process.env.JAVA_HOME, ...childFolders('/usr/lib/jvm')].filter(Boolean);
  const versions = folders
    .map((folder) => ({ folder, version: jdkVersion(folder) }))
    .filter((jdk) => jdk.version >= oldest);
  return versions.sort((a, b) => b.version - a.version)[0]?.folder;
}

/** All programs of these names on PATH, in its order. */
export function onPath(...names) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name)).filter(isProgram));
}

const finders = {
  'nats-server': () => onPath('nats-server').find(isNewEnough) ?? cachedNatsServers().find(isProgram),
  versitygw: () => onPathOrCached('versitygw'),
  helm: () => onPathOrCached('helm'),
  // This is a folder, not a program: Elasticsearch is started with a JDK and settings of its own.
  elasticsearch: () => (hasElasticsearch() && findJdk(oldestJdkForElasticsearch) ? elasticsearchFolder() : undefined),
  // The headless shell is the same engine without windows and their user interface: a page takes half of the processor time.
  chromium: () =>
    [
      ...onPath('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'),
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ].find(isProgram),
  'redis-server': () => onPath('redis-server')[0],
  bsdtar: () => onPath('bsdtar')[0],
  busybox: () => onPath('busybox')[0],
  jq: () => onPath('jq')[0],
  python3: () => onPath('python3')[0],
  // This is a folder with packages, not a program.
  'sdk-versions': () => [sdkVersionsFolder()].find((folder) => existsSync(join(folder, 'node_modules'))),
};

function onPathOrCached(name) {
  return [...onPath(name), join(cachedFolder(name, pinnedVersions[name]), name)].find(isProgram);
}

function cachedNatsServers() {
  const { natsServerModule, natsServerWheel, natsServerRelease } = pinnedVersions;
  return [natsServerModule, natsServerWheel, natsServerRelease].map((version) =>
    join(cachedFolder('nats-server', version), 'nats-server'),
  );
}

function isNewEnough(program) {
  const version = natsServerVersion(program);
  if (version === undefined) return false;
  const [major, minor] = oldestNatsServer;
  return version[0] > major || (version[0] === major && version[1] >= minor);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function childFolders(folder) {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function jdkVersion(folder) {
  try {
    const version = /^JAVA_VERSION="(\d+)/m.exec(readFileSync(join(folder, 'release'), 'utf8'));
    return version && isProgram(join(folder, 'bin', 'javac')) ? Number(version[1]) : 0;
  } catch {
    return 0;
  }
}
