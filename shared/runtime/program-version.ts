import { readFileSync } from 'node:fs';

/** Version of Bindery that this process runs. */
export const { version: programVersion } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };
