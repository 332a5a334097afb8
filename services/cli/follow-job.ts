import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import type { ApiClient } from './api-client.ts';
import { jobPath } from './job-path.ts';
import { whileAway } from './while-away.ts';

const reconnectMs = 250;

/**
 * A job at each of its changes until it has ended, as the server tells them. When the connection breaks it is made again; each state comes
 * once. Rejects with `ApiFailure` when there is no such job, or the server stays away.
 */
export async function* followJob(client: ApiClient, jobId: string): AsyncGenerator<ExportJob> {
  for (let revision = 0; ; await delay(reconnectMs)) {
    const response = await whileAway(() => client.raw(jobPath(jobId), { headers: { accept: 'text/event-stream' } }));
    try {
      for await (const job of jobEvents(response)) {
        if (job.revision <= revision) continue;
        revision = job.revision;
        yield job;
        if (job.status === 'completed' || job.status === 'failed') return;
      }
    } catch (error) {
      // A broken connection is a reason to make a new one; a broken event is not.
      if (error instanceof SyntaxError) throw error;
    }
  }
}

async function* jobEvents(response: Response): AsyncGenerator<ExportJob> {
  if (response.body === null) return;
  const lines = createInterface({ input: Readable.fromWeb(response.body), crlfDelay: Infinity });
  for await (const line of lines) {
    if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as ExportJob;
  }
}
