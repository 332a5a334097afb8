import { findServer as locate, type ServerName } from './server-locations.mjs';

export type { ServerName };

const found = new Map<ServerName, string>();

/**
 * The program of a server (of Elasticsearch: its folder): on PATH, or fetched into the cache by `npm start`, `npm test` or `npm run servers`; undefined when it is
 * nowhere. A hit is remembered (nats-server is asked for its version), a miss is looked up again.
 */
export function findServer(name: ServerName): string | undefined {
  const path = found.get(name) ?? locate(name);
  if (path !== undefined) found.set(name, path);
  return path;
}
