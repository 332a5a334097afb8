/*
 * The larger servers and programs that tests of the adapters and charts need: `npm run servers`, or `node infra/setup/servers.mjs`, on Node 20 or later.
 *
 *   Versity S3 Gateway   built with Go
 *   Elasticsearch        fetched with Maven; needs a JDK of 21 or later
 *   Helm                 built with Go
 *
 * For each missing one it prints how to get it; the tests that need it are then skipped.
 *
 *   BINDERY_CACHE              folder for downloads                    default ~/.cache/bindery
 *   BINDERY_REQUIRE_SERVERS    1: a missing server is a failure        default: it is a warning
 *   ES_JAVA_HOME, JAVA_HOME    JDKs to consider beside /usr/lib/jvm
 */
import { fetchElasticsearch, fetchHelm, fetchVersityGateway } from './fetch-test-servers.mjs';
import { findServer } from './server-locations.mjs';
import { runSteps, say } from './steps.mjs';

const needed = process.env.BINDERY_REQUIRE_SERVERS === '1';
await runSteps([
  { needed, run: fetchVersityGateway },
  { needed, run: fetchElasticsearch },
  { needed, run: fetchHelm },
]);
for (const name of ['versitygw', 'elasticsearch', 'helm']) say(`${name}: ${findServer(name) ?? 'not here'}`);
