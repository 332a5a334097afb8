import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { newFolder } from '../support/new-folder.ts';
import { assistantBehind } from './assistant-harness.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let folder: string;
beforeAll(async () => {
  gateway = await gatewayHarness({}, assistantBehind());
  acme = await createOrganization(gateway);
  folder = newFolder();
});
afterAll(() => gateway.close());

test('the unchanged script of the documentation asks and continues the thread', async () => {
  const page = await readFile(join(import.meta.dirname, '../../infra/docs/interfaces/assistant-api.mdx'), 'utf8');
  const [, script = ''] = /```js ask\.mjs\n(.*?)\n```/s.exec(page) ?? [];
  const file = join(folder, 'ask.mjs');
  await writeFile(file, script);
  const BASE = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  const run = (key: string) =>
    promisify(execFile)(process.execPath, [file], { env: { BASE, DOMAIN: 'docs', ASSISTANT_KEY: key } });
  const { stdout } = await run(acme.assistantKey);
  expect(stdout.match(/press "Rotate" on the keys page/g)).toHaveLength(2);
  expect(stdout.match(/'\/guides\/keys#rotate-a-key'/g)).toHaveLength(2);
  const [state] = await Promise.all(
    (await gateway.bus.threads.subjects('threads.acme.docs.*')).map((subject) => gateway.bus.threads.last(subject)),
  );
  expect(state?.commit.data.state.turnCount).toBe(2);
  await expect(run('svc_dsc_wrong')).rejects.toMatchObject({ stderr: expect.stringContaining('Error: The API key') });
});
