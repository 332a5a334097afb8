import { createInterface } from 'node:readline';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { BundleRefused } from './bundle-refused.ts';
import { prepareVersion, type VersionRequest } from './prepare-version.ts';
import type { PrepareOutcome } from './prepare-in-child.ts';

/** The child of `prepareInChild`: requests as lines of standard input, one after the other, and their outcomes as lines of standard output. */
const requests = createInterface({ input: process.stdin });
// The child ends with its parent.
requests.once('close', () => process.exit(1));
for await (const line of requests) {
  const outcome = await outcomeOf(JSON.parse(line) as VersionRequest);
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

async function outcomeOf(request: VersionRequest): Promise<PrepareOutcome> {
  try {
    await prepareVersion(request);
    return { kind: 'prepared' };
  } catch (error) {
    if (error instanceof BundleRefused) return { kind: 'refused', message: error.message };
    const code = errorCode(error);
    return { kind: 'failed', message: messageOf(error), ...(code !== undefined && { code }) };
  }
}
