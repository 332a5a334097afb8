import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '#shared/telemetry/logger.ts';
import { inboxPrefix } from '#shared/subjects/permissions-of.ts';

export type BusAddress = {
  /** Comma-separated. */
  url: string;
  user: string;
  password: string;
};

/** A connection that waits for its server at first and comes back for ever after. */
export async function openConnection(address: BusAddress, name: string, log?: Logger): Promise<NatsConnection> {
  const connection = await connect({
    servers: address.url.split(','),
    user: address.user,
    pass: address.password,
    name,
    inboxPrefix: inboxPrefix(address.user),
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    pingInterval: 5_000,
    maxPingOut: 2,
  });
  if (log !== undefined) void logStatus(connection, log);
  return connection;
}

async function logStatus(connection: NatsConnection, log: Logger): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') log.warn('the bus is away');
    else if (status.type === 'reconnect') log.info('the bus is back');
    else if (status.type === 'error') log.error({ err: status.error }, 'the bus refuses something');
  }
}
