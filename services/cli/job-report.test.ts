import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExportReport } from '#shared/interfaces/http/exports.ts';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { runCommand } from '../../test/support/start-installation.ts';

const summary = { pages: 2, failedPages: 0, errors: 1, warnings: 1_000, infos: 0, brokenLinks: 0 };
const found = (message: string, severity: 'error' | 'warning' = 'warning') => ({
  ...{ severity, code: 'some-code', message, file: 'a.mdx', line: 3, column: 7 },
});
const answers: Record<string, ExportReport> = {
  '': {
    jobId: 'se_x',
    summary,
    byCode: [],
    pages: [{ path: 'a', findings: [found('one', 'error')] }],
    nextCursor: '1',
  },
  '1': {
    ...{ jobId: 'se_x', summary, byCode: [] },
    pages: [
      { path: 'a', findings: [found('two')] },
      { path: 'b', findings: [{ severity: 'warning', code: 'broken-link', message: 'three', line: 9 }] },
    ],
  },
};

let server: LoopbackServer;
let asked: string[] = [];

beforeAll(async () => {
  server = await onLoopback(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
      asked.push(`${pathname} ${searchParams.toString()}`);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answers[searchParams.get('cursor') ?? '']));
    }),
  );
});
afterAll(() => server.close());

const report = (...args: string[]) => {
  asked = [];
  return runCommand(['job', 'report', 'se_x', '--url', server.url, ...args], { BINDERY_KEY: 'k' });
};

test('the findings are listed by page, also those of later answers', async () => {
  expect((await report()).stdout).toBe(`2 pages, 1 error, 1,000 warnings, 0 infos

/a
  error    a.mdx:3:7  one (some-code)
  warning  a.mdx:3:7  two (some-code)

/b
  warning  line 9  three (broken-link)
`);
  expect(asked).toEqual([
    '/v1/static-export/jobs/se_x/report limit=1000',
    '/v1/static-export/jobs/se_x/report cursor=1&limit=999',
  ]);
});

test('a limit ends the list, and says that there is more', async () => {
  const { stdout } = await report('--limit', '1', '--page', '/a', '--severity', 'error');
  expect(stdout).toMatch(/There are more findings: --limit shows more than 1\.\n$/);
  expect(asked).toEqual(['/v1/static-export/jobs/se_x/report page=%2Fa&severity=error&limit=1']);
});

test('as JSON it is one report', async () => {
  const { pages, nextCursor } = JSON.parse((await report('--json')).stdout) as ExportReport;
  expect([pages.map(({ path, findings }) => [path, findings.length]), nextCursor]).toEqual([
    [
      ['a', 2],
      ['b', 1],
    ],
    undefined,
  ]);
});
