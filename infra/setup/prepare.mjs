/*
 * Set-up for `npm start`, `npm run check` and `npm test` in a fresh clone: `node infra/setup/prepare.mjs start|check|test|mutation`, on Node 20 or
 * later.
 *
 *   check      npm packages with Node 24
 *   start      the same; nats-server
 *   test       the same; Redis, Chromium, bsdtar, busybox and jq from the distribution; released versions of the AI SDK
 *   mutation   npm packages with Node 24; Stryker
 *
 * It prints a line for each step, with advice if the step fails. Steps that are done are skipped, and several set-ups may run at once.
 *
 *   BINDERY_CACHE              folder for downloads                default ~/.cache/bindery
 *   BINDERY_REQUIRE_SERVERS    1: a missing server is a failure    default: it is a warning, and its tests are skipped
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchNatsServer } from './fetch-nats-server.mjs';
import { installMutationTools, installPackages } from './install-packages.mjs';
import { fetchSdkVersions, installTestPrograms } from './fetch-test-servers.mjs';
import { runSteps } from './steps.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const purpose = process.argv[2];
const needed = true;
const serversNeeded = process.env.BINDERY_REQUIRE_SERVERS === '1';

const packages = { needed, run: () => installPackages(root) };
const steps = {
  check: [packages],
  start: [packages, { needed, run: fetchNatsServer }],
  test: [
    packages,
    { needed: serversNeeded, run: fetchNatsServer },
    { needed: serversNeeded, run: installTestPrograms },
    { needed: serversNeeded, run: fetchSdkVersions },
  ],
  mutation: [packages, { needed, run: () => installMutationTools(root) }],
};

if (!Object.hasOwn(steps, purpose)) {
  process.stderr.write('usage: node infra/setup/prepare.mjs start|check|test|mutation\n');
  process.exit(64);
}
await runSteps(steps[purpose]);
