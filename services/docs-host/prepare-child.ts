import { createInterface } from 'node:readline';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { BundleRefused } from './bundle-refused.ts';
import { prepareVersion, type VersionRequest } from './prepare-version.ts';
import type { PrepareOutcome } from './prepare-in-child.ts';

/** The child of `prepareInChild`: one request on standard input, one outcome on standard output. It ends with its parent. */
const lines = createInterface({ input: process.stdin });
lines.once('close', () => process.exit(1));
lines.once('line', (line) => {
  void outcomeOf(JSON.parse(line) as VersionRequest).then((outcome) =>
    process.stdout.write(JSON.stringify(outcome), () => process.exit(0)),
  );
});

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
