import { createInterface } from 'node:readline';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { BundleRefused } from './bundle-refused.ts';
import { prepareVersion } from './prepare-version.ts';
import type { ChildRequest, PrepareOutcome } from './prepare-in-child.ts';
import { sweepContent } from './sweep-content.ts';

/** The child of `prepareInChild`: requests as lines of standard input, one after the other, and their outcomes as lines of standard output. */
const requests = createInterface({ input: process.stdin });
// The child ends with its parent.
requests.once('close', () => process.exit(1));
for await (const line of requests) {
  const outcome = await outcomeOf(JSON.parse(line) as ChildRequest);
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

async function outcomeOf(request: ChildRequest): Promise<PrepareOutcome> {
  try {
    await (request.kind === 'sweep' ? sweepContent(request) : prepareVersion(request));
    return { kind: 'prepared' };
  } catch (error) {
    if (error instanceof BundleRefused) return { kind: 'refused', message: error.message };
    const code = errorCode(error);
    return { kind: 'failed', message: messageOf(error), ...(code !== undefined && { code }) };
  }
}
