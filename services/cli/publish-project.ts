import { Readable } from 'node:stream';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { ApiClient } from './api-client.ts';
import { packProject } from './pack-project.ts';

export type Publication = { contentVersion: string; version: string | null; pages: number; diagnostics: Diagnostic[] };

/** Packs a docs project's folder and publishes it; resolves once its content version is in the log. */
export async function publishProject(
  client: ApiClient,
  domain: string,
  folder: string,
  label?: string,
): Promise<Publication> {
  const archive = await packProject(folder);
  return client.json<Publication>(`/v1/domains/${domain}/content`, {
    method: 'PUT',
    query: { version: label },
    headers: { 'content-type': 'application/gzip' },
    body: Readable.toWeb(archive) as ReadableStream<Uint8Array>,
  });
}
