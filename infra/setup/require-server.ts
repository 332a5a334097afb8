import { ServerMissing } from './server-missing.ts';
import { findServer, type ServerName } from './server-paths.ts';

/** The program of a server. @throws ServerMissing, which says how to get it. */
export function requireServer(name: ServerName): string {
  const path = findServer(name);
  if (path === undefined) throw new ServerMissing(name);
  return path;
}
