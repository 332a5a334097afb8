import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { apiClient } from './api-client.ts';
import { publishProject } from './publish-project.ts';

type Answer = { status: number; retryAfter?: string };

const ok: Answer = { status: 200 };
const busy: Answer = { status: 503, retryAfter: '0' };

/** Publishes a project of one file to a server that gives these answers, in order. Returns the requests, and the outcome as a text. */
async function published(...answers: Answer[]): Promise<{ requests: string[]; outcome: string }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { status, retryAfter } = answers[requests.length] ?? ok;
    requests.push(`${request.method} ${request.url?.replace('/v1/domains/docs/', '')}`);
    request.resume().on('end', () => {
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
      const body = status === 200 ? { missing: [], contentVersion: 'cv_1' } : { error: `It is ${status}.`, code: 'c' };
      response.end(JSON.stringify(body));
    });
  });
  const { port, close } = await onLoopback(server);
  onTestFinished(() => close());
  const folder = newFolder();
  await writeFile(join(folder, 'docs.json'), '{}');
  const client = apiClient(`http://127.0.0.1:${port}`, 'k');
  const outcome = await publishProject(client, { domain: 'docs', folder }).then(
    ({ contentVersion }) => contentVersion,
    (error: unknown) => String(error),
  );
  return { requests, outcome };
}

const asked = 'POST content/missing';

test('a server without a free place is asked again after the pause that it names, at each step', async () => {
  expect(await published(busy, ok, busy, busy, ok)).toEqual({
    requests: [asked, asked, 'PATCH content', 'PATCH content', 'PATCH content'],
    outcome: 'cv_1',
  });
  expect(await published({ status: 404 }, busy, ok)).toEqual({
    requests: [asked, 'PUT content', 'PUT content'],
    outcome: 'cv_1',
  });
});

test('a server that names no pause, or limits the rate of requests, is asked once', async () => {
  for (const refusal of [{ status: 503 }, { status: 429, retryAfter: '0' }])
    expect(await published(ok, refusal)).toMatchObject({ requests: [asked, 'PATCH content'] });
});

test.each([404, 405])('an older server that answers %s gets the whole project', async (status) => {
  expect(await published({ status })).toEqual({ requests: [asked, 'PUT content'], outcome: 'cv_1' });
  expect(await published(ok, { status })).toMatchObject({ requests: [asked, 'PATCH content', 'PUT content'] });
});

test.each([500, 502, 400])('a server that answers %s does not get the whole project', async (status) => {
  expect(await published({ status })).toEqual({ requests: [asked], outcome: `ApiFailure: It is ${status}.` });
  expect(await published(ok, { status })).toMatchObject({ requests: [asked, 'PATCH content'] });
});
