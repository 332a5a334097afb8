import { setTimeout as delay } from 'node:timers/promises';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { connect, errors, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { type BusTraffic, BusUnavailable } from '../bus.ts';

export type BusAddress = {
  /** Comma-separated. With one of `tls://` no server without TLS will do, and its certificate must be one that Node trusts. */
  url: string;
  user: string;
  password: string;
};

/** A server that dies in the middle of a handshake is not noticed by the client, which would wait for 20 s before it tries again. */
const handshakeMs = 3_000;

/** Servers that start at the same time are there by then. */
const sayWhyAfterMs = 3_000;

/** What a connection tells about the server; a logger, or the output of a command. */
export type ConnectionLog = {
  info(line: string): void;
  warn(line: string): void;
  error(what: object, line: string): void;
};

/** A connection that waits for its server at the start, saying once what it waits for, and always reconnects. */
export async function openConnection(address: BusAddress, name: string, log?: ConnectionLog): Promise<NatsConnection> {
  const options = connectionOptions(address, name);
  const waiting = setTimeout(() => void sayWhy(options, address.url, log), sayWhyAfterMs);
  const connection = await connect({ ...options, waitOnFirstConnect: true }).finally(() => clearTimeout(waiting));
  const state: ConnectionState = { connected: true, disconnects: 0 };
  states.set(connection, state);
  void followStatus(connection, state, log);
  return connection;
}

/** A connection for those who do not wait: rejects with the client's error when there is none within `withinMs`. */
export async function openedAtOnce(address: BusAddress, name: string, withinMs: number): Promise<NatsConnection> {
  const options = { ...connectionOptions(address, name), reconnect: false, timeout: withinMs };
  return await withDeadline(connect(options), withinMs, () => new Error(`no answer within ${withinMs} ms`));
}

function connectionOptions(address: BusAddress, name: string): NodeConnectionOptions {
  const servers = address.url.split(',').map((server) => server.trim());
  return {
    servers,
    user: address.user,
    pass: address.password,
    name,
    inboxPrefix: inboxPrefix(address.user),
    maxReconnectAttempts: -1,
    timeout: handshakeMs,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    pingInterval: 5_000,
    maxPingOut: 2,
    // The client leaves it to the server whether there is TLS, whatever the scheme says.
    ...(servers.some((server) => server.startsWith('tls://')) ? { tls: {} } : {}),
  };
}

/** The client keeps to itself why it has no connection yet. One that does not wait says it. */
async function sayWhy(options: NodeConnectionOptions, url: string, log?: ConnectionLog): Promise<void> {
  try {
    await (await connect({ ...options, reconnect: false })).close();
  } catch (error) {
    log?.warn(`waiting for the bus at ${url}: ${messageOf(error)}`);
  }
}

type ConnectionState = { connected: boolean; disconnects: number };

const states = new WeakMap<NatsConnection, ConnectionState>();

/** What went over a connection that `openConnection` opened. */
export function trafficOf(connection: NatsConnection): BusTraffic {
  const { inMsgs, outMsgs, inBytes, outBytes } = connection.stats();
  const { connected, disconnects } = states.get(connection) ?? { connected: false, disconnects: 0 };
  return {
    connected: connected && !connection.isClosed(),
    disconnects,
    messagesIn: inMsgs,
    messagesOut: outMsgs,
    bytesIn: inBytes,
    bytesOut: outBytes,
  };
}

async function followStatus(connection: NatsConnection, state: ConnectionState, log?: ConnectionLog): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      state.connected = false;
      state.disconnects += 1;
      log?.warn('the bus is away');
    } else if (status.type === 'reconnect') {
      state.connected = true;
      log?.info('the bus is back');
    } else if (status.type === 'error') log?.error({ err: status.error }, 'the bus refuses something');
  }
}

const retryDelayMs = 100;

/**
 * Repeats a call while the server is away, up to `deadlineMs`, then rejects with `BusUnavailable`. A call that the server refuses, or
 * that this connection has no right to make, is not repeated.
 */
export async function whileAway<T>(what: string, deadlineMs: number, call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + deadlineMs; ; await delay(retryDelayMs)) {
    try {
      return await call();
    } catch (error) {
      if (!isAway(error)) throw refusal(what, error);
      if (performance.now() > deadline) {
        throw new BusUnavailable(
          `${what}: the bus did not answer within ${deadlineMs / 1_000} s. Is nats-server running?`,
          {
            cause: error,
          },
        );
      }
    }
  }
}

/** Between two items of one answer. */
const pauseWithinAnswerMs = 2_000;

/**
 * All items of an answer in parts. Rejects with a `TimeoutError` when the rest does not come: the client waits for ever when the server dies in
 * the middle.
 */
export async function wholeAnswer<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  const iterator = parts[Symbol.asyncIterator]();
  for (;;) {
    const next = await withDeadline(iterator.next(), pauseWithinAnswerMs, () => new errors.TimeoutError());
    if (next.done === true) return items;
    items.push(next.value);
  }
}

/** 10008: JetStream has not started yet; 503 and no responders: it is being restarted. */
function isAway(error: unknown): boolean {
  if (violationOf(error) !== undefined) return false;
  if (error instanceof JetStreamApiError) return error.status === 503 || error.code === 10_008;
  return (
    error instanceof errors.TimeoutError ||
    error instanceof errors.NoRespondersError ||
    error instanceof errors.RequestError ||
    error instanceof errors.ConnectionError ||
    (error instanceof JetStreamError && /503|no responders|timeout/i.test(error.message))
  );
}

function refusal(what: string, error: unknown): unknown {
  const violation = violationOf(error);
  if (violation === undefined) return error;
  return new Error(`${what}: this service has no right to ${violation.operation} to "${violation.subject}".`, {
    cause: error,
  });
}

/** A request that may not be published fails with the violation as its cause. */
function violationOf(error: unknown): InstanceType<typeof errors.PermissionViolationError> | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof errors.PermissionViolationError) return cause;
  }
  return undefined;
}
