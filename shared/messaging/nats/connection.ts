import { setTimeout as delay } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError, JetStreamError, type JetStreamManager } from '@nats-io/jetstream';
import { connect, errors, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { BusPartMissing, type BusTraffic, BusUnavailable } from '../bus.ts';

export type BusAddress = {
  /** Comma-separated addresses. If one has the scheme `tls://`, all servers must use TLS, with a certificate that Node trusts. */
  url: string;
  user: string;
  password: string;
};

/** Timeout of a handshake. The client does not notice a server that dies during one, and would wait for 20 s before it tries again. */
const handshakeMs = 3_000;

/** Delay before the reason for waiting is logged. Servers that start at the same time as the service are up by then. */
const sayWhyAfterMs = 3_000;

/** Shortest pause between two tries; the longest is twice that. */
const awayPauseMs = 100;
/** Pause between two tries at a server that does not know the user. */
const refusedPauseMs = 1_000;

/** Receives messages about the server: a logger, or the output of a command. */
export type ConnectionLog = {
  info(line: string): void;
  warn(line: string): void;
  error(what: object, line: string): void;
};

/** The server refuses the user or its password. */
export const isUnknownUser = (error: unknown): boolean =>
  error instanceof errors.AuthorizationError || /authorization violation/i.test(messageOf(error));

const unknownUser = ({ url, user }: BusAddress): string =>
  `The bus at ${url} does not know the user "${user}", or its password differs. Set ${passwordVariable(user)} to the value in the configuration of nats-server, which "bindery secrets" writes.`;

/** The variable that holds the password of a user of the bus. */
export const passwordVariable = (user: string): string =>
  `BINDERY_NATS_PASSWORD_${user.replaceAll('-', '_').toUpperCase()}`;

/**
 * A connection that waits for its server at the start, logs once why it waits, and always reconnects. A user that the server does not know at the
 * start is an error. Later the client retries, because an operator may be changing the server's configuration.
 */
export async function openConnection(address: BusAddress, name: string, log?: ConnectionLog): Promise<NatsConnection> {
  const state: ConnectionState = { connected: true, disconnects: 0, isRefused: false };
  const options = connectionOptions(address, name);
  let isGivenUp = false;
  const opening = connect({
    ...options,
    waitOnFirstConnect: true,
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => (state.isRefused ? refusedPauseMs : awayPauseMs * (1 + Math.random())),
    // The client calls this at each attempt to connect; an error ends the attempts.
    authenticator: () => {
      if (isGivenUp) throw new Error(unknownUser(address));
      return { user: address.user, pass: address.password };
    },
  });
  const sayWhy = async (): Promise<void> => {
    const reason = await reasonOfNoConnection(options);
    isGivenUp = isUnknownUser(reason);
    if (!isGivenUp && reason !== undefined)
      log?.warn(`waiting for the bus at ${address.url}: ${connectionProblem(reason)}`);
  };
  const waiting = setTimeout(() => void sayWhy(), sayWhyAfterMs);
  const connection = await opening
    .catch((error: unknown) => {
      throw isGivenUp ? new Error(unknownUser(address), { cause: error }) : error;
    })
    .finally(() => clearTimeout(waiting));
  states.set(connection, state);
  void followStatus(connection, address, state, log);
  return connection;
}

/** A connection for callers that do not wait: rejects with the client's error when there is none within `withinMs`. */
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
    pingInterval: 5_000,
    maxPingOut: 2,
    // Otherwise the client takes two stack traces for each request, which cost more than the request. Errors keep their cause.
    noAsyncTraces: true,
    // The client lets the server decide about TLS, whatever the scheme says.
    ...(servers.some((server) => server.startsWith('tls://')) ? { tls: {} } : {}),
  };
}

/**
 * The client does not report why it has no connection yet. A second one that does not wait rejects with the reason; undefined when it
 * connects.
 */
async function reasonOfNoConnection(options: NodeConnectionOptions): Promise<unknown> {
  try {
    await (await connect({ ...options, reconnect: false })).close();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** `isRefused`: the last try found a server that does not know the user. */
type ConnectionState = { connected: boolean; disconnects: number; isRefused: boolean };

const states = new WeakMap<NatsConnection, ConnectionState>();

/** Traffic of a connection that `openConnection` opened. */
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

async function followStatus(
  connection: NatsConnection,
  address: BusAddress,
  state: ConnectionState,
  log?: ConnectionLog,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      if (state.connected) log?.warn('the bus is unavailable');
      state.disconnects += Number(state.connected);
      state.connected = false;
    } else if (status.type === 'reconnect') {
      state.connected = true;
      state.isRefused = false;
      log?.info('the bus answers again');
    } else if (status.type === 'error' && isUnknownUser(status.error)) {
      if (!state.isRefused) log?.error({ err: status.error }, unknownUser(address));
      state.isRefused = true;
    } else if (status.type === 'error') log?.error({ err: status.error }, 'the bus refused a request');
  }
}

const retryDelayMs = 100;

/**
 * Retries a call while the server is unavailable, up to `deadlineMs`, then rejects with `BusUnavailable`. A call that the server refuses, or that
 * this connection has no right to make, is not retried.
 */
export async function whileAway<T>(what: string, deadlineMs: number, call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + deadlineMs; ; await delay(retryDelayMs)) {
    try {
      return await call();
    } catch (error) {
      if (!isAway(error)) throw refusal(what, error);
      if (performance.now() > deadline) {
        const reason = isUnanswered(error)
          ? 'nats-server is starting, or a stream or consumer is missing, which "bindery doctor" names'
          : 'is nats-server running?';
        throw new BusUnavailable(`${what}: the bus did not answer within ${deadlineMs / 1_000} s: ${reason}`, {
          cause: error,
        });
      }
    }
  }
}

/** Timeout between two items of one answer. */
const pauseWithinAnswerMs = 2_000;

/**
 * All items of an answer in parts. Rejects with a `TimeoutError` when the rest does not come: the client waits forever when the server dies
 * during the answer.
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
  if (error instanceof BusPartMissing || violationOf(error) !== undefined) return false;
  if (error instanceof JetStreamApiError) return error.status === 503 || error.code === 10_008;
  return (
    error instanceof errors.TimeoutError ||
    isUnanswered(error) ||
    error instanceof errors.RequestError ||
    error instanceof errors.ConnectionError ||
    (error instanceof JetStreamError && /503|no responders|timeout/i.test(error.message))
  );
}

/** True if a request failed because its stream does not exist. `jsm`: a manager that may ask for the stream's settings. */
export async function isStreamMissing(error: unknown, jsm: JetStreamManager, stream: string): Promise<boolean> {
  if (error instanceof JetStreamApiError) return error.code === JetStreamApiCodes.StreamNotFound;
  // A write or a direct read gets no answer if the stream is missing, but also while the server starts.
  if (!isUnanswered(error)) return false;
  try {
    await jsm.streams.info(stream);
    return false;
  } catch (answer) {
    return answer instanceof JetStreamApiError && answer.code === JetStreamApiCodes.StreamNotFound;
  }
}

/** Turns an error of opening a part of the bus into this one if the part was never provisioned. Other errors are returned unchanged. */
export function notProvisioned(error: unknown, part: string): unknown {
  const missing: number[] = [JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound];
  if (!(error instanceof JetStreamApiError) || !missing.includes(error.code)) return error;
  return new Error(`The bus has no ${part}. Run "bindery provision" of this version, then start the service again.`, {
    cause: error,
  });
}

function refusal(what: string, error: unknown): unknown {
  const violation = violationOf(error);
  if (violation === undefined) return error;
  return new Error(`${what}: this service has no right to ${violation.operation} to "${violation.subject}".`, {
    cause: error,
  });
}

/** True if the server refused a request for which this user has no right. */
export const isViolation = (error: unknown): boolean => violationOf(error) !== undefined;

/** A request that may not be published fails with the violation as its cause. */
function violationOf(error: unknown): InstanceType<typeof errors.PermissionViolationError> | undefined {
  return [...causesOf(error)].find((cause) => cause instanceof errors.PermissionViolationError);
}

/** True if nobody listened for a request. The client hides this error behind others, such as "jetstream is not enabled". */
const isUnanswered = (error: unknown): boolean =>
  [...causesOf(error)].some((cause) => cause instanceof errors.NoRespondersError);

/** The error and its causes, outermost first. */
function* causesOf(error: unknown): Iterable<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}
