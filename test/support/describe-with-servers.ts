import { describe, test } from 'vitest';
import { findServer, ServerMissing, type ServerName } from '#infra/setup/find-server.ts';

/**
 * `describe` for suites that need real servers or programs. If a server is missing, the suite is skipped, and its name says which one and how to get
 * it; with `BINDERY_REQUIRE_SERVERS=1` (continuous integration) it fails instead.
 */
export function describeWithServers(servers: readonly ServerName[], title: string, suite: () => void): void {
  const missing = servers.filter((server) => findServer(server) === undefined);
  if (missing.length === 0) {
    describe(title, suite);
    return;
  }
  const reason = missing.map((server) => new ServerMissing(server).message).join('; ');
  if (process.env.BINDERY_REQUIRE_SERVERS === '1') {
    describe(title, () => {
      test('has its servers', () => {
        throw new Error(reason);
      });
    });
    return;
  }
  skipSuite(title, reason, suite);
}

/** Skips a suite that cannot run here. Its name and a line of output give the reason. */
export function skipSuite(title: string, reason: string, suite: () => void): void {
  process.stderr.write(`skipped: ${title} (${reason})\n`);
  describe.skip(`${title} (skipped: ${reason})`, suite);
}
