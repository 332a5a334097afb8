import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { exportJob } from '../../test/support/export-job.ts';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { apiClient } from './api-client.ts';
import { watchJob } from './commands/jobs.ts';

const job = (revision: number, changes: Partial<ExportJob> = {}) =>
  exportJob({ jobId: 'se_x', progress: revision * 10, pageCount: revision, revision, ...changes });
const event = (job: ExportJob) => `id: ${job.revision}\nevent: job\ndata: ${JSON.stringify(job)}\n\n`;

/** Handlers of the next requests, in order. */
let answers: ((response: ServerResponse) => void)[] = [];
let server: LoopbackServer;

beforeAll(async () => {
  server = await onLoopback(
    createServer((_, response) => {
      const answer = answers.shift();
      if (answer === undefined) response.destroy();
      else answer(response);
    }),
  );
});
afterAll(() => server.close());
beforeEach(() => {
  answers = [];
});

const watch = async (stream: { isTTY?: boolean; columns?: number }, json = false) => {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const failure = await watchJob(apiClient(server.url, 'k'), 'se_x', { json, stream: { ...stream, write } }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { written, failure };
};

test('away from a terminal every change is a line, and the end of the job ends it', async () => {
  answers = [(response) => response.end(`: hello\n\n${event(job(1))}${event(job(2, { status: 'completed' }))}`)];
  const { written, failure } = await watch({});
  expect(failure).toBeUndefined();
  expect(written.trim().split('\n')).toEqual([
    expect.stringContaining('running'),
    expect.stringContaining('completed'),
  ]);
});

test('a connection that breaks is made again, and nothing is told twice', async () => {
  answers = [
    (response) => {
      response.write(event(job(1)), () => response.destroy());
    },
    (response) => response.end(event(job(1)) + event(job(2))),
    (response) => response.end(event(job(2)) + event(job(3, { status: 'completed' }))),
  ];
  const { written, failure } = await watch({}, true);
  expect(failure).toBeUndefined();
  expect(
    written
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as ExportJob).revision),
  ).toEqual([1, 2, 3]);
});

test('on a terminal it draws over itself', async () => {
  answers = [(response) => response.end(event(job(1)) + event(job(2, { status: 'completed', progress: 100 })))];
  const { written } = await watch({ isTTY: true, columns: 80 });
  expect(written).toContain('\u001b[2A\r');
  expect(written).toContain('100.0 %');
});

test('a job that fails is a failure, with its reason', async () => {
  answers = [
    (response) => response.end(event(job(1, { status: 'failed', error: 'The page x could not be rendered.' }))),
  ];
  expect((await watch({})).failure).toMatchObject({ name: 'ExportFailed', message: expect.stringContaining('page x') });
});

test('a job that there is not is a failure at once', async () => {
  const body = { error: 'There is no export job "se_x".', code: 'not_found', requestId: 'r' };
  answers = [(response) => response.writeHead(404).end(JSON.stringify(body))];
  expect((await watch({})).failure).toMatchObject({ code: 'not_found', message: body.error });
});
