import { statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { guessAmong } from '#shared/runtime/problem-text.ts';
import { ConfigError, loadConfig, secretFileVariable } from '#shared/runtime/config.ts';
import { fault, type Finding, good, warning } from '#shared/runtime/finding.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { demoSettings, provisionSettings } from '../commands/installation.ts';
import { otherVariables, programSettings } from '../known-settings.ts';
import { startSettings } from '../start.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Checks that this environment has the settings of these services, and no unknown variable. Pure, except that it reads files of secrets. */
export function inspectSettings(
  environment: Environment,
  services: readonly (keyof typeof programSettings)[],
): Finding[] {
  const unknown = unreadVariables(environment).map((text) => warning(text, 'Correct or remove it.'));
  const ofServices = services.map((service) => {
    try {
      loadConfig(programSettings[service], environment);
      return [good(`The ${service} has the settings that it needs.`)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.message
        .split('\n')
        .map((line) => fault(`The ${service} does not start: ${line}.`, 'Set it in the environment of the service.'));
    }
  });
  return [...unknown, ...ofServices.flat()];
}

/** A sentence about each variable of Bindery that no program of this version reads, such as a setting of an earlier version. Pure. */
export function unreadVariables(environment: Environment): string[] {
  const known = knownVariables();
  return Object.keys(environment)
    .filter((name) => name.startsWith('BINDERY_') && !known.has(name))
    .map((name) => `${name} is set, and nothing reads it${guessAmong(name, [...known])}.`);
}

function knownVariables(): Set<string> {
  const all = [...Object.values(programSettings), startSettings, provisionSettings, demoSettings];
  const declared = all.flatMap((settings) => Object.values(settings).map(({ env, secret }) => ({ env, secret })));
  return new Set([
    ...declared.flatMap(({ env, secret }) => (secret ? [env, secretFileVariable(env)] : [env])),
    ...otherVariables.map(([name]) => name),
    ...moreVariables,
  ]);
}

/** Variables of the Compose file, of tests, and of bus users that only commands have. */
const moreVariables = [
  'BINDERY_IMAGE',
  'BINDERY_HTTP_PORT',
  'BINDERY_S3_PORT',
  'BINDERY_SHARED',
  'BINDERY_PROGRAM_TREE',
  ...['AUDITOR', 'OPERATOR', 'HOUSEKEEPER', 'SUPERVISOR'].flatMap((user) => [
    `BINDERY_NATS_PASSWORD_${user}`,
    `BINDERY_NATS_PASSWORD_${user}_FILE`,
  ]),
];

const gigabyte = 1e9;
const leastFreeBytes = 5 * gigabyte;
const leastMemory = 2 * gigabyte;
const leastOpenFiles = 4_096;

/** Inspects the resources of this machine or container. `folders`: the folders with stored data. */
export async function inspectMachine(folders: readonly string[]): Promise<Finding[]> {
  const constrained = process.constrainedMemory();
  // Without a limit, `constrainedMemory` returns 0 or a huge number.
  const memory = constrained > 0 && constrained < totalmem() ? constrained : totalmem();
  const cores = availableParallelism();
  const has = `Node ${process.versions.node}, ${cores} ${cores === 1 ? 'core' : 'cores'}, ${inGigabytes(memory)} of memory`;
  const findings: Finding[] = [
    memory < leastMemory
      ? warning(`${has}.`, 'A page-renderer needs up to 3 GB of memory, a publisher 1.5 GB.')
      : good(`${has}.`),
  ];
  const openFiles = openFilesLimit();
  if (openFiles !== undefined && openFiles < leastOpenFiles) {
    findings.push(
      warning(
        `A process may open ${openFiles} files and connections.`,
        `Raise it to ${leastOpenFiles} or more (ulimit -n).`,
      ),
    );
  }
  for (const folder of folders) findings.push(await diskFinding(folder));
  return findings;
}

const inGigabytes = (bytes: number): string => `${(bytes / gigabyte).toFixed(1)} GB`;

function openFilesLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}

async function diskFinding(folder: string): Promise<Finding> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    try {
      const { bavail, bsize } = await statfs(at);
      const text = `${inGigabytes(bavail * bsize)} are free for ${folder}.`;
      return bavail * bsize < leastFreeBytes
        ? warning(text, 'Free some space: publications and exports fail on a full disk.')
        : good(text);
    } catch (error) {
      // The first start creates the folder.
      if (errorCode(error) !== 'ENOENT' || at === dirname(at)) throw error;
    }
  }
}
