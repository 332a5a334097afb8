import type { Doctor, DoctorCheck } from '#shared/interfaces/http/doctor.ts';
import type { ServiceHealth } from '#shared/interfaces/http/installation.ts';
import { redisAddressOf } from '#shared/http/redis-settings.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { clockFinding } from '#shared/runtime/finding.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import type { GatewayContext } from '../context.ts';
import { askedHealth } from './service-health.ts';

/** A page waits for the slowest check. */
const checkWithinMs = 1_500;

type Found = Omit<DoctorCheck, 'name'>;
type Examined = Pick<GatewayContext, 'bus' | 'objectStore' | 'rateLimiter' | 'config' | 'clock' | 'liveGateways'>;

const good = (sentence: string): Found => ({ state: 'good', sentence });

/** Examinations of `bindery doctor` that no service can make: they need the settings, disks and addresses of the machines. */
const commandOnly: Doctor['commandOnly'] = [
  { name: 'machine', sentence: 'Node, memory, open files and free disks of a machine.' },
  { name: 'settings', sentence: 'Variables that no program reads, and those that a service lacks.' },
  {
    name: 'bus',
    sentence:
      'Versions, streams and disks of the NATS servers, and if they store a message before they acknowledge it.',
  },
  { name: 'object store', sentence: 'Ranges, copies and signed links of the object store.' },
  { name: 'limits', sentence: 'The version of Redis and its settings.' },
  { name: 'search', sentence: 'The version of Elasticsearch or OpenSearch, and its rights.' },
  { name: 'model', sentence: 'If the language model and the embedding model exist and accept the key.' },
  { name: 'traces', sentence: 'If the collector of traces accepts spans.' },
];

/** Examines what a gateway can reach, all at once. Never rejects: a check that fails is a fault with its reason, one that hangs is cut off. */
export async function examineInstallation(context: Examined): Promise<Doctor> {
  const { bus, objectStore, rateLimiter, config, clock, liveGateways } = context;
  const health = async (service: string, url: string | undefined) =>
    url === undefined ? undefined : await askedHealth(service, url);
  const called = {
    publisher: health('publisher', config.publisherUrl),
    'link-signer': health('link-signer', config.linkSignerUrl),
    assistant: health('assistant', config.assistantUrl),
    projector: health('projector', config.projectorUrl),
    orchestrator: health('orchestrator', config.orchestratorUrl),
    housekeeper: health('housekeeper', config.housekeeperUrl),
  };
  const checks: [name: string, find: () => Promise<Found>, repair: string][] = [
    [
      'bus',
      async () => {
        await bus.check();
        return good('The bus answers the gateway and stores its messages.');
      },
      'Look at the log of nats-server, and run "bindery doctor" with the folder of secrets "doctor".',
    ],
    [
      'object store',
      async () => {
        await objectStore.check();
        return good('The object store answers the gateway.');
      },
      'Check address, bucket and credentials of the store. "bindery doctor" names the setting.',
    ],
    ['limits', async () => limitsOf(), 'Check that Redis runs and that the gateways reach it at BINDERY_REDIS_URL.'],
    [
      'clock',
      async () => {
        const far = clockFinding('The clock of the bus', clock.now().getTime() - Date.now());
        return far === undefined
          ? good("The clocks of the bus and of the gateway's machine agree.")
          : { state: 'warning', sentence: far.text, ...(far.advice !== undefined && { repair: far.advice }) };
      },
      '',
    ],
    ...Object.entries(called).map(([service, asked]): (typeof checks)[number] => [
      service,
      async () => await serviceFound(service, asked),
      `Look at the log of the ${service}, and at its settings.`,
    ]),
    ['versions', versionsFound, ''],
  ];

  function limitsOf(): Found {
    const problem = rateLimiter.problem();
    if (problem !== undefined) throw new Error(`Each gateway counts requests alone: ${problem}`);
    if (redisAddressOf(config) !== undefined) return good('All gateways count requests in Redis.');
    return liveGateways() === 1
      ? good('The gateway counts requests in its memory, which is right for one gateway.')
      : {
          state: 'warning',
          sentence: `${liveGateways()} gateways count requests without each other.`,
          repair: 'Set BINDERY_REDIS_URL, so that they share the counts.',
        };
  }

  async function versionsFound(): Promise<Found> {
    const all = await Promise.all(Object.values(called));
    const versions = new Set([programVersion, ...all.flatMap((each) => each?.version ?? [])]);
    if (versions.size === 1) return good(`The services that answered run version ${programVersion}.`);
    return {
      state: 'warning',
      sentence: `The services run the versions ${[...versions].toSorted().join(' and ')}.`,
      repair: 'Finish the update: replace the services of the earlier version.',
    };
  }

  return {
    checks: await Promise.all(checks.map(async ([name, find, repair]) => ({ name, ...(await cutOff(find, repair)) }))),
    commandOnly,
  };
}

async function serviceFound(service: string, asked: Promise<ServiceHealth | undefined>): Promise<Found> {
  const health = await asked;
  if (health === undefined)
    return {
      state: 'unknown',
      sentence: `The gateway does not know the address of the ${service}.`,
      repair: `Set BINDERY_${service.toUpperCase()}_URL and its token for the gateway.`,
    };
  const { state, problems } = health;
  const reasons = problems.map(({ part, reason }) => (part === service ? reason : `${part}: ${reason}`)).join('; ');
  if (state === 'ready') return good(`The ${service} is ready.`);
  if (state === 'degraded')
    return {
      state: 'warning',
      sentence: `A part of the ${service} works less well: ${reasons}.`,
      repair: 'Correct the part that is named.',
    };
  throw new Error(`The ${service} is ${state}: ${reasons}.`);
}

async function cutOff(find: () => Promise<Found>, repair: string): Promise<Found> {
  class Late extends Error {}
  const late = () => new Late(`It did not answer within ${checkWithinMs} ms, so its state is not known.`);
  try {
    return await withDeadline(find(), checkWithinMs, late);
  } catch (error) {
    return {
      state: error instanceof Late ? 'unknown' : 'fault',
      sentence: messageOf(error),
      ...(repair && { repair }),
    };
  }
}
