import { jetstreamManager, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { clockFinding, fault, type Finding, good, versionFinding, warning } from '#shared/runtime/finding.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { type BusAddress, isUnknownUser, openedAtOnce, passwordVariable } from './connection.ts';
import { howToResume, leftToProvision, pauseText } from './provision.ts';
import { hasRights, renewRights } from './rights.ts';
import { inspectServices } from './inspect-services.ts';
import { openServerHealth } from './server-health.ts';

export type BusInspection = {
  address: BusAddress;
  /** The oldest version of nats-server that supports the streams. */
  oldestServer: readonly number[];
  /** The renderer versions whose chunk consumers are checked. */
  rendererVersions: readonly string[];
  /** True if the services have to run. */
  withServices?: boolean;
  /** Addresses of the servers' monitors, `http://host:8222`. Only the monitor shows when a server syncs to its disk. */
  monitors?: readonly string[];
  /** Password of the user `supervisor`, who may ask whether a stream's last write failed. */
  supervisorPassword?: string | undefined;
};

const leastPayload = 1_048_576;
const slowRoundTripMs = 50;
const openWithinMs = 5_000;
const monitorWithinMs = 3_000;
const gigabyte = 1e9;

/** Findings about the bus, with the rights of the given user. As `provisioner` it compares the streams with those of this version. */
export async function inspectBus(inspection: BusInspection): Promise<Finding[]> {
  const { address, oldestServer, monitors = [], supervisorPassword } = inspection;
  let connection: NatsConnection;
  try {
    connection = await openedAtOnce(address, 'inspection', openWithinMs);
  } catch (error) {
    return [unreachable(address, error)];
  }
  try {
    const findings = [...(await serverFindings(connection, address, oldestServer))];
    if (connection.info?.jetstream !== true) {
      findings.push(fault('JetStream is off at this server.', 'Add a block "jetstream { … }" to its configuration.'));
      return findings;
    }
    findings.push(...(await streamFindings(connection, inspection)));
    for (const monitor of monitors) findings.push(...(await monitorFindings(monitor)));
    if (supervisorPassword !== undefined) findings.push(...(await healthFindings(address.url, supervisorPassword)));
    return findings;
  } catch (error) {
    return [
      fault(
        `The server at ${address.url} accepts the user "${address.user}" but does not answer: ${messageOf(error)}.`,
        'Look at its log: JetStream may still start, or have no majority of its servers. If it is no nats-server, set BINDERY_NATS_URL.',
      ),
    ];
  } finally {
    await connection.close();
  }
}

function unreachable({ url, user }: BusAddress, error: unknown): Finding {
  if (isUnknownUser(error)) {
    return fault(
      `The server at ${url} does not know the user "${user}", or its password differs.`,
      `Give the server the configuration that "bindery secrets" wrote together with ${passwordVariable(user)}.`,
    );
  }
  return fault(
    `There is no bus at ${url}: ${connectionProblem(error)}.`,
    'Start nats-server there, or set BINDERY_NATS_URL to its address.',
  );
}

async function serverFindings(
  connection: NatsConnection,
  { url, user }: BusAddress,
  oldest: readonly number[],
): Promise<Finding[]> {
  const { version = '', max_payload: payload = 0 } = connection.info ?? {};
  // The shortest round trip is the distance: the others include load of this machine or of the server.
  const roundTrip = Math.min(...(await Promise.all([connection.rtt(), connection.rtt(), connection.rtt()])));
  const away = `${roundTrip.toFixed(roundTrip < 10 ? 1 : 0)} ms away`;
  const findings = [
    versionFinding(`nats-server ${version} at ${url} knows the user "${user}" and is ${away}`, version, oldest),
  ];
  if (payload < leastPayload) {
    findings.push(
      fault(
        `nats-server accepts messages of at most ${payload} bytes.`,
        `Set max_payload to 1MB in its configuration.`,
      ),
    );
  }
  if (roundTrip > slowRoundTripMs) {
    findings.push(
      warning(
        `nats-server is far from here: ${away}.`,
        'Run services and bus in one region: each step of an export waits for the bus.',
      ),
    );
  }
  return findings;
}

async function streamFindings(
  connection: NatsConnection,
  { address, rendererVersions, withServices = false }: BusInspection,
) {
  if (address.user !== 'provisioner') {
    return [
      warning(
        `The user "${address.user}" may not read the settings of the streams, so they were not compared.`,
        'Give BINDERY_NATS_PASSWORD_PROVISIONER.',
      ),
    ];
  }
  if (!(await hasRights(connection))) {
    return [
      fault(
        `The server at ${address.url} has the rights of an older version, and refuses requests that services of this version need.`,
        renewRights,
      ),
    ];
  }
  const jsm = await jetstreamManager(connection, { checkAPI: false });
  const { streams, durables, problems, paused } = await leftToProvision(jsm, rendererVersions);
  const pauses = paused.map((pause) => warning(pauseText(pause), howToResume));
  if (problems.length > 0) {
    return [...problems.map((problem) => fault(problem, 'Run "bindery provision" of this version.')), ...pauses];
  }
  const findings = [
    ...pauses,
    good(`${streams.length} streams and buckets and ${durables} consumers have the settings of this version.`),
  ];
  const services = withServices ? await inspectServices(jsm, rendererVersions) : [];
  return [...findings, ...replicaFindings(connection, streams), ...(await roomFindings(jsm)), ...services];
}

/** Findings about the number of servers that keep each message, and about copies that are not up to date. */
function replicaFindings(connection: NatsConnection, infos: readonly StreamInfo[]): Finding[] {
  const findings: Finding[] = [];
  const fewest = Math.min(...infos.map(({ config }) => config.num_replicas));
  const most = Math.max(...infos.map(({ config }) => config.num_replicas));
  const isCluster = (connection.info?.cluster ?? '') !== '';
  if (isCluster && fewest < 3) {
    findings.push(
      warning(
        `In this cluster some streams are kept on only ${fewest === 1 ? 'one server: they are lost with it' : `${fewest} servers: they are lost with them`}.`,
        'Run "bindery provision" with BINDERY_NATS_REPLICAS=3.',
      ),
    );
  }
  const behind = infos.flatMap(({ config, cluster }) =>
    (cluster?.replicas ?? [])
      .filter(({ current, offline }) => offline || !current)
      .map(({ name, offline }) => `${config.name} on ${name}${offline ? ' (offline)' : ''}`),
  );
  if (behind.length > 0) {
    const shown = behind.slice(0, 5).join(', ');
    findings.push(
      warning(
        `${behind.length} copies of streams are not up to date: ${shown}${behind.length > 5 ? ', …' : ''}.`,
        'Check that each server of the cluster runs; copies catch up automatically.',
      ),
    );
  }
  if (isCluster && findings.length === 0)
    findings.push(good(`Each stream is kept on ${most} servers, and all are current.`));
  return findings;
}

const fullPart = 0.8;

async function roomFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const { storage, limits } = await jsm.getAccountInfo();
  const used = `The streams take ${(storage / gigabyte).toFixed(2)} GB`;
  if (limits.max_storage <= 0) return [good(`${used}; their account has no limit.`)];
  const whole = `${used} of the ${(limits.max_storage / gigabyte).toFixed(1)} GB of their account.`;
  return [
    storage > fullPart * limits.max_storage
      ? warning(whole, 'Give the account more room: a full one takes no export, question or change.')
      : good(whole),
  ];
}

const varzSchema = z.object({
  now: z.string(),
  jetstream: z
    .object({
      config: z.object({ max_storage: z.number(), sync_always: z.boolean().optional() }).optional(),
      stats: z.object({ storage: z.number() }).optional(),
    })
    .optional(),
});

/** Findings from a server's monitor, which needs no password. */
async function monitorFindings(monitor: string): Promise<Finding[]> {
  let varz: z.infer<typeof varzSchema>;
  try {
    const answer = await fetch(new URL('/varz', monitor), { signal: AbortSignal.timeout(monitorWithinMs) });
    varz = varzSchema.parse(await answer.json());
  } catch (error) {
    return [
      warning(
        `There is no monitor of a nats-server at ${monitor} (${connectionProblem(error)}), so it was not checked.`,
        'Set http_port in its configuration, and name its address with --nats-monitor.',
      ),
    ];
  }
  const findings: Finding[] = [];
  const { config, stats } = varz.jetstream ?? {};
  if (config?.sync_always === true) {
    findings.push(good(`The server at ${monitor} writes each message to its disk before it acknowledges it.`));
  } else {
    findings.push(
      fault(
        `The server at ${monitor} acknowledges a message before it is on its disk: a power cut loses up to two minutes of accepted work.`,
        'Set "sync_interval: always" in the block jetstream of its configuration.',
      ),
    );
  }
  if (config !== undefined && stats !== undefined && stats.storage > fullPart * config.max_storage) {
    const part = Math.round((100 * stats.storage) / config.max_storage);
    findings.push(
      warning(
        `The server at ${monitor} has used ${part} % of its storage.`,
        'Give it a larger disk, or a larger max_file_store.',
      ),
    );
  }
  const clock = clockFinding(`The clock of the server at ${monitor}`, Date.parse(varz.now) - Date.now());
  return clock === undefined ? findings : [...findings, clock];
}

async function healthFindings(url: string, password: string): Promise<Finding[]> {
  const health = await openServerHealth({ url, password });
  try {
    const problem = await health.problem();
    return problem === undefined
      ? [good('Each stream stored its last message.')]
      : [fault(`The server does not store new messages: ${problem}.`, 'Make room on its disk, then restart it.')];
  } finally {
    await health.close();
  }
}
