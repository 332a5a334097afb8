import { randomBytes } from 'node:crypto';
import { writePrivateJson } from '#infra/supervisor/data-folder.ts';
import { firstLinkFile } from '#services/console/sign-in.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/** Time within which the link is opened. */
const lifeMs = 60_000;

/**
 * A link that signs in to the console of this machine once, as the operator, within a minute. Its digest is in a file of the data folder, which only
 * the owner may read and write. A new link replaces the one before.
 */
export async function newConsoleLink(dataFolder: string, consoleUrl: string, now: Date): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const until = new Date(now.getTime() + lifeMs).toISOString();
  await writePrivateJson(firstLinkFile(dataFolder), { sha256: sha256Of(token), until });
  return `${consoleUrl}/sign-in?token=${token}`;
}
