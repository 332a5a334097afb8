import { findServer as locate, type ServerName } from './server-locations.mjs';

export type { ServerName };

const found = new Map<ServerName, string>();

/**
 * Path of a server's program (for Elasticsearch: its folder), on PATH or in the cache that `npm start`, `npm test` and `npm run servers` fill. Undefined when
 * it is not found. Hits are cached, because looking up nats-server runs it for its version; misses are not.
 */
export function findServer(name: ServerName): string | undefined {
  const path = found.get(name) ?? locate(name);
  if (path !== undefined) found.set(name, path);
  return path;
}

/** Path of a server's program, as `findServer` has it. @throws ServerMissing, which says how to get it. */
export function requireServer(name: ServerName): string {
  const path = findServer(name);
  if (path === undefined) throw new ServerMissing(name);
  return path;
}

const howToGet: Record<ServerName, string> = {
  'nats-server': '`npm test` fetches it',
  'redis-server': '`npm test` as root installs it; else install the package redis-server',
  chromium: '`npm test` as root installs it; else install the package chromium',
  bsdtar: '`npm test` as root installs it; else install the package libarchive-tools',
  busybox: '`npm test` as root installs it; else install the package busybox',
  jq: '`npm test` as root installs it; else install the package jq',
  python3: 'install the package python3',
  versitygw: '`npm run servers` builds it',
  elasticsearch: '`npm run servers` fetches it',
  helm: '`npm run servers` builds it',
  'sdk-versions': '`npm test` fetches them',
};

/** A server that a caller needs is neither on PATH nor in the cache; the message says how to get it. */
export class ServerMissing extends Error {
  constructor(name: ServerName) {
    super(`${name} was not found: ${howToGet[name]}`);
    this.name = 'ServerMissing';
  }
}
