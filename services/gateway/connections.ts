import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { addressRange, covers, proxyRanges } from '#shared/http/address-ranges.ts';
import { answerAndClose } from '#shared/http/answer-and-close.ts';
import { ApiError } from '#shared/http/errors.ts';
import { addressGroup } from '#shared/http/rate-limit.ts';
import { endSlowClients } from '#shared/http/slow-bodies.ts';
import type { GatewayContext } from './context.ts';

/** Minimum interval of the warning, so that a client with too many connections cannot fill the log. */
const warnEveryMs = 60_000;

/**
 * Limits connections: their number for one address (IPv6: one /64), and how slow or idle one may be. A trusted proxy opens connections for all
 * clients, so then the requests in flight of each client are limited instead.
 */
export function limitConnections(app: FastifyInstance, { config, clock, logger }: GatewayContext): void {
  const { connectionsPerAddress, stalledAfterSeconds, bodyWithinSeconds, trustProxy } = config;
  const proxies = trustProxy.flatMap(proxyRanges);
  const isProxy = (address: string | undefined) => {
    const range = address === undefined ? undefined : addressRange(address);
    return range !== undefined && covers(proxies, range);
  };
  const count = counter(connectionsPerAddress);
  // The type narrows Fastify's server to HTTP/1.1.
  const server: Server = app.server;
  endSlowClients(server, {
    stalledAfterMs: stalledAfterSeconds * 1_000,
    bodyWithinMs: bodyWithinSeconds * 1_000,
  });

  let warnedAt = 0;
  const warn = (address: string) => {
    const now = clock.now().getTime();
    if (now - warnedAt < warnEveryMs) return;
    warnedAt = now;
    logger.warn({ address }, 'an address has too many connections; is it a proxy that should be trusted?');
  };

  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const done = count(addressGroup(remoteAddress));
    if (done !== undefined) {
      socket.once('close', done);
      return;
    }
    warn(remoteAddress);
    answerAndClose(socket, tooMany(`${connectionsPerAddress} connections`));
  });

  app.addHook('onRequest', async (request, reply) => {
    if (!isProxy(request.socket.remoteAddress)) return;
    const done = count(addressGroup(request.ip));
    if (done === undefined) throw tooMany(`${connectionsPerAddress} requests at a time`);
    reply.raw.once('close', done);
  });
}

const tooMany = (what: string): ApiError =>
  new ApiError('rate_limited', `Your address has more than ${what}. End some, then try again.`, {
    retryAfterSeconds: 1,
  });

/** Counts up to `most` by name. Each call adds one and returns the function that removes it; undefined if the limit is reached. */
function counter(most: number): (name: string) => (() => void) | undefined {
  const counts = new Map<string, number>();
  return (name) => {
    const before = counts.get(name) ?? 0;
    if (before >= most) return undefined;
    counts.set(name, before + 1);
    return () => {
      const left = (counts.get(name) ?? 1) - 1;
      if (left === 0) counts.delete(name);
      else counts.set(name, left);
    };
  };
}
