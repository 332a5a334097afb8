import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { rightsSubject } from '#shared/messaging/subjects/permissions.ts';
import { type ConnectionLog, isViolation } from './connection.ts';

/** Instruction for a server with older rights, as a sentence. */
export const renewRights =
  'Let "bindery secrets" of this version write nats.conf again, and let each nats-server read it: "nats-server --signal reload", or restart it.';

/** The server has the rights of an older version, so it would refuse requests that services of this version need. */
class OlderRights extends Error {
  override name = 'OlderRights';

  constructor() {
    super(`The bus has the rights of an older version of Bindery. ${renewRights}`);
  }
}

/** A server that is told to reload its configuration does so within seconds. */
const usuallyWithinMs = 30_000;
const askEveryMs = 1_000;
const answerWithinMs = 3_000;

/**
 * True if the server has the rights of this version or of a later one. A server reads them at its start, and again only when it is told to.
 * `connection` is the provisioner's.
 */
export async function hasRights(connection: NatsConnection): Promise<boolean> {
  try {
    await connection.request(rightsSubject(), '', { timeout: answerWithinMs });
  } catch (error) {
    // The permission is tested by a request that nobody answers.
    return !isViolation(error);
  }
  return true;
}

/** Waits for the rights of this version. Rejects with `OlderRights` when the server still has older ones after `withinMs`. */
export async function untilRightsAreThere(
  connection: NatsConnection,
  withinMs: number = usuallyWithinMs,
  log?: ConnectionLog,
): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await hasRights(connection)); await delay(askEveryMs)) {
    if (performance.now() > deadline) throw new OlderRights();
    log?.warn('waiting for the bus to have the rights of this version: its servers have to reload nats.conf');
  }
}
