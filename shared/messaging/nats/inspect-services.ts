import { setTimeout as delay } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { fault, type Finding, good } from '#shared/runtime/finding.ts';
import { projectionTable } from '../subjects/projection-table.ts';
import { durableRows, renderDurable } from '../subjects/subject-table.ts';

const leases = '$KV.leases.';

/** The roles that one process has to hold at a time, with the effect if no process does. */
const roles: readonly { role: string; service: string; effect: string }[] = [
  { role: 'orchestrator', service: 'orchestrator', effect: 'no export starts or continues' },
  ...Object.keys(projectionTable).map((projection) => ({
    ...{ role: `projector.${projection}`, service: 'projector' },
    effect: 'statuses, lists, figures and keys do not change',
  })),
  { role: 'deployer', service: 'deployer', effect: 'publications do not reach sites' },
  { role: 'housekeeper', service: 'housekeeper', effect: 'nothing is archived or removed' },
];

/** The effect if no process reads the consumers of a service. */
const work: Readonly<Record<string, string>> = {
  'page-renderer': 'no page is rendered',
  bundler: 'no bundle is joined',
  indexer: 'publications cannot be searched',
};

/** Time for which a service may show no sign of life: a lease expires after 3 s, and a worker asks again after 5 s. */
const signWithinMs = 9_000;
const lookEveryMs = 500;
/** Time in which a worker with tasks in all of its slots usually ends one. */
const busyMs = 60_000;

/**
 * Findings about the services that the gateway does not call. A leader is found by its lease, which expires within seconds; a worker by its waiting
 * requests for messages, or by messages that it received recently and still works on.
 */
export async function inspectServices(jsm: JetStreamManager, rendererVersions: readonly string[]): Promise<Finding[]> {
  let missing = await withoutSign(jsm, rendererVersions);
  // A worker shows no sign of life in the moment between two requests.
  for (const deadline = performance.now() + signWithinMs; missing.size > 0 && performance.now() < deadline; ) {
    await delay(lookEveryMs);
    const again = await withoutSign(jsm, rendererVersions);
    missing = new Map([...missing].filter(([service]) => again.has(service)));
  }
  if (missing.size === 0) return [good('Each service that works on messages is running.')];
  return [...missing].map(([service, effect]) =>
    fault(
      `No ${service} works here: ${effect}.`,
      `Start one${service === 'page-renderer' ? ' of this version' : ''}. If it runs, look at its log and its /readyz.`,
    ),
  );
}

/** The services that show no sign of life now, with the effect. */
async function withoutSign(jsm: JetStreamManager, rendererVersions: readonly string[]): Promise<Map<string, string>> {
  const { state } = await jsm.streams.info('KV_leases', { subjects_filter: `${leases}>` });
  const held = new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.slice(leases.length)));
  const missing = new Map<string, string>();
  for (const { role, service, effect } of roles) if (!held.has(role)) missing.set(service, effect);
  for (const { stream, name, reader } of [...durableRows, ...rendererVersions.map(renderDurable)]) {
    const effect = work[reader];
    if (effect === undefined) continue;
    const { num_waiting: waiting, num_ack_pending: inFlight, delivered, ts } = await jsm.consumers.info(stream, name);
    // Messages of a worker that died count as in flight until another one asks.
    const isBusy = inFlight > 0 && Date.parse(ts ?? '') - Date.parse(String(delivered.last_active)) < busyMs;
    if (waiting === 0 && !isBusy) missing.set(reader, effect);
  }
  return missing;
}
