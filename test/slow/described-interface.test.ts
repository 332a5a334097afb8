import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import type { OpenApiDocument } from '#services/gateway/openapi.ts';
import { fileListName, fileListText } from '#shared/interfaces/http/listed-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { packTar } from '../support/archives.ts';
import { type Description, readDescription } from '../support/described-answers.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const files = (text: string): Record<string, string> => ({
  'docs.json': JSON.stringify({
    theme: 'mint',
    name: 'Acme',
    colors: { primary: '#000000' },
    navigation: { pages: ['quickstart'] },
  }),
  'quickstart.mdx': `---\ntitle: Quickstart\n---\n\n## Install\n\n${text}\n`,
});
const project = (text: string) => packTar(files(text));

describeWithServers(['nats-server'], 'the description of a running installation', () => {
  let harness: TestInstallation;
  let baseUrl: string;
  let description: Description;

  beforeAll(async () => {
    harness = await startInstallation({ processes: 'shared' });
    ({ baseUrl } = harness.installation);
    const document = await fetch(`${baseUrl}/openapi.json`).then((answer) => answer.json());
    description = readDescription(document as OpenApiDocument);
  }, 3 * minuteMs);
  afterAll(() => harness?.stop());

  test(
    'all its examples work with the ids of this installation',
    async () => {
      const { operations, problemsOfAnswer } = description;
      const sent = new Set<string>();
      /** Sends the example of an operation, with the given ids in place of its own, and compares the answer with the description. */
      const send = async (
        id: string,
        key: string,
        {
          ids = {},
          body,
          accept = 'application/json',
          expected,
        }: { ids?: Record<string, string>; body?: unknown; accept?: string; expected?: number[] } = {},
      ) => {
        const operation = operations.get(id);
        if (operation === undefined) throw new Error(`there is no ${id}`);
        sent.add(id);
        const { method, path, parameters, requestBody, responses } = operation;
        const headers = new Headers({ accept });
        if (key !== '') headers.set('authorization', `Bearer ${key}`);
        const url = new URL(
          path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? exampleOf(name)),
          baseUrl,
        );
        function exampleOf(name: string): string {
          return String(parameters.find((parameter) => parameter.name === name)?.example);
        }
        for (const { name, in: place, example } of parameters) {
          if (place === 'path' || (ids[name] ?? example) === undefined) continue;
          const value = ids[name] ?? exampleOf(name);
          if (place === 'query') url.searchParams.set(name, value);
          else headers.set(name, value);
        }
        const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
        if (type !== undefined) headers.set('content-type', type);
        const payload =
          body instanceof Buffer
            ? new Uint8Array(body)
            : content && JSON.stringify({ ...(content.example as object), ...(body as object | undefined) });
        const answer = await fetch(url, { method, headers, ...(payload === undefined ? {} : { body: payload }) });
        const text = await answer.text();
        const wanted = expected ?? [Number(Object.keys(responses)[0])];
        expect([id, wanted.includes(answer.status) ? 'as described' : `${answer.status} ${text}`]).toEqual([
          id,
          'as described',
        ]);
        const problems = problemsOfAnswer(operation, { status: answer.status, headers: answer.headers, body: text });
        expect([id, problems]).toEqual([id, []]);
        if (answer.ok && accept !== 'application/json') expect(answer.headers.get('content-type')).toContain(accept);
        return { answer, text, json: () => JSON.parse(text) };
      };

      /** The feed of sites does not end, so only its beginning is compared. */
      const followed = async (hostKey: string) => {
        sent.add('followSites');
        const stop = new AbortController();
        const headers = { authorization: `Bearer ${hostKey}` };
        const answer = await fetch(`${baseUrl}/v1/sites/feed`, { headers, signal: stop.signal });
        let text = '';
        for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += part;
          if (text.includes('event: whole')) break;
        }
        stop.abort();
        expect(text).toContain('event: site\ndata: {"site":');
      };

      /** The same for the events of the organization. */
      const followedEvents = async (key: string) => {
        sent.add('followEvents');
        const stop = new AbortController();
        const headers = { authorization: `Bearer ${key}` };
        const answer = await fetch(`${baseUrl}/v1/events`, { headers, signal: stop.signal });
        const { value } = (await answer.body?.pipeThrough(new TextDecoderStream()).getReader().read()) ?? {};
        stop.abort();
        expect(value).toMatch(/^event: following\ndata: \{"since":/);
      };

      const { operatorToken } = harness.installation.secrets;
      const created = (await send('createOrganization', operatorToken)).json();
      const key: string = created.adminKey.key;
      const org: string = created.organization.id;
      await send('changeOrganization', operatorToken, { ids: { org } });
      await send('listOrganizations', operatorToken);
      await send('whoami', key);
      await send('readLimits', key);
      await send('listDomains', key);
      await send('startVerification', key);
      await send('readVerification', key);
      await send('startInstallationVerification', operatorToken);
      await send('readInstallationVerification', operatorToken);
      await send('readOrganization', operatorToken, { ids: { org } });
      await send('listServices', operatorToken);
      await send('examineInstallation', operatorToken);
      await send('readWork', operatorToken);
      await send('listDeadLetters', operatorToken);
      await send('readDeadLetter', operatorToken, { expected: [404] });
      await send('retryDeadLetter', operatorToken, { expected: [404] });
      await send('dropDeadLetter', operatorToken, { expected: [404] });
      await send('decideDeadLetters', operatorToken);
      await send('previewHousekeeping', operatorToken);
      await send('addDomain', operatorToken, { ids: { org } });
      await send('grantAdminKey', operatorToken, { ids: { org } });

      const siteKey = (await send('createApiKey', key)).json();
      const rotated = (await send('rotateApiKey', key, { ids: { id: siteKey.id } })).json();
      await send('listApiKeys', key);
      const site: string = siteKey.key;

      const older = (
        await send('publishContent', key, { ids: { version: 'v1' }, body: await project('Unpack it.') })
      ).json();
      const changed = files('Run `npm install` to install it.');
      const list = fileListText(
        Object.entries(changed).map(([path, text]) => ({
          path,
          sha256: sha256Of(text),
          sizeBytes: Buffer.byteLength(text),
        })),
      );
      const lacking = await send('missingContents', key, { body: await packTar({ [fileListName]: list }) });
      expect(lacking.json()).toEqual({ missing: [sha256Of(changed['quickstart.mdx'] ?? '')] });
      const archive = await packTar({ [fileListName]: list, 'quickstart.mdx': changed['quickstart.mdx'] ?? '' });
      const { contentVersion } = (await send('publishChanges', key, { body: archive })).json();
      await send('listContent', key);
      const from = older.contentVersion;
      const compared = (await send('contentChanges', key, { ids: { contentVersion, from } })).json();
      expect(compared.changes).toContainEqual(expect.objectContaining({ path: 'quickstart', change: 'changed' }));
      await send('contentSource', key, { ids: { contentVersion, from, page: 'quickstart' } });
      await send('contentDiagnostics', key, { ids: { contentVersion } });
      await send('promoteContent', key, { ids: { contentVersion } });

      const { jobId } = (await send('startExport', key)).json();
      await send('getExport', key, { ids: { jobId } });
      const stream = await send('getExport', key, { ids: { jobId }, accept: 'text/event-stream' });
      expect(stream.text).toContain('"status":"completed"');
      const listed = await send('listExports', key);
      expect(listed.json().jobs).toMatchObject([{ jobId }]);
      await send('listExportEvents', key, { ids: { jobId } });
      await send('listExportEvents', key, { ids: { jobId }, accept: 'application/x-ndjson' });
      await send('signBundleLink', key, { ids: { jobId } });
      await send('getExportReport', key, { ids: { jobId } });
      const replayed = (await send('replayExport', key, { ids: { jobId } })).json();
      // The export may already have ended.
      await send('cancelExport', key, { ids: { jobId: replayed.jobId }, expected: [202, 409] });

      await whenSearched(apiClient(baseUrl, key), 'docs', contentVersion);
      const stated = await send('answerQuestion', site, { accept: 'text/event-stream' });
      const threadId = stated.answer.headers.get('x-thread-id') ?? '';
      const messageId = /"messageId":"([^"]+)"/.exec(stated.text)?.[1];
      await send('rateAnswer', site, {
        ids: { 'X-Thread-Key': stated.answer.headers.get('x-thread-key') ?? '' },
        body: { threadId, messageId },
      });
      await send('readThread', key, { ids: { threadId } });
      await send('readInsights', key);
      await send('readQuestions', key);
      await send('eraseThread', key, { ids: { threadId } });
      await send('answerQuestionV1', site, { accept: 'text/plain' });
      const found = await send('searchPassages', site);
      expect(found.json()).not.toEqual([]);
      await send('readPage', site);
      await send('readWidgetSettings', site);
      await send('resumeAnswer', site, { expected: [204] });
      await send('stopAnswer', site);
      await send('answerMcp', site);

      await send('openSite', key);
      const deployed = async (id: number): Promise<{ jobId: string }> => {
        const isLive = async () => {
          const { live } = (await send('getSite', key)).json();
          return live?.id === id ? live : undefined;
        };
        return await vi.waitUntil(isLive, { timeout: minuteMs, interval: 200 });
      };
      const first = await deployed(1);
      const again = (await send('deploy', key)).json();
      await deployed(again.id);
      await send('listDeployments', key);
      await send('rollBack', key, { ids: { deployment: '1' } });
      await vi.waitUntil(async () => (await fetch(`${baseUrl}/v1/sites/hosts/docs.acme.com`)).ok, minuteMs);
      await send('findSiteHost', '');
      await send('askSiteHost', '');
      const hostKey = harness.installation.secrets.siteKey;
      await send('signSiteLink', hostKey, { body: { site: `${org}/docs`, jobId: first.jobId } });
      await followed(hostKey);
      await followedEvents(key);
      const reader = { org, domain: 'docs' };
      expect((await send('searchSite', hostKey, { ids: reader })).json()).not.toEqual([]);
      await send('readSitePage', hostKey, { ids: reader });
      await send('answerSiteMcp', hostKey, { ids: reader });
      const said = await send('answerSiteQuestion', hostKey, { ids: reader, accept: 'text/event-stream' });
      await send('resumeSiteAnswer', hostKey, { ids: reader, expected: [204] });
      await send('stopSiteAnswer', hostKey, { ids: reader });
      await send('rateSiteAnswer', hostKey, {
        ids: { ...reader, 'X-Thread-Key': said.answer.headers.get('x-thread-key') ?? '' },
        body: {
          threadId: said.answer.headers.get('x-thread-id') ?? '',
          messageId: /"messageId":"([^"]+)"/.exec(said.text)?.[1],
        },
      });
      const today = new Date().toISOString().slice(0, 10);
      const counted = {
        ...{ site: `${org}/docs`, day: today, views: 3, paths: [['/', 2]], referred: 0, referrers: [] },
        ...{ searches: 1, emptySearches: 1, queries: [['install', 1, 1]] },
      };
      // Hosts may send a batch twice.
      for (const sequence of [1, 1, 2]) {
        const taken = await send('countSiteViews', hostKey, { body: { sequence, days: [counted] } });
        expect(taken.json()).toEqual({ accepted: 1, refused: 0 });
      }
      const range = { from: today, to: today };
      const viewed = async () => (await send('readViews', key, { ids: { ...range, by: 'path' } })).json();
      await vi.waitUntil(async () => (await viewed()).total >= 6, { timeout: minuteMs, interval: 200 });
      expect(await viewed()).toMatchObject({ total: 6, entries: [{ name: '/', views: 4 }], other: 2 });
      await send('readReaders', key, { ids: range });
      expect((await send('readSearches', key, { ids: range })).json()).toMatchObject({ total: 2, empty: 2 });
      await send('closeSite', key);

      await send('listAudit', key);
      await send('listAudit', key, { accept: 'application/x-ndjson' });
      await send('getUsage', key);
      await send('describeInterface', '');
      await send('welcome', '');
      await send('welcome', '', { accept: 'text/html' });
      await send('readReference', '', { accept: 'text/html' });

      await send('removeLabel', key, { ids: { label: 'v1' } });
      await send('deleteContent', key, { ids: { contentVersion: older.contentVersion } });
      await send('revokeApiKey', key, { ids: { id: rotated.id } });

      expect([...operations.keys()].filter((id) => !sent.has(id))).toEqual([]);
    },
    3 * minuteMs,
  );

  test(
    'a client that is generated from it compiles, and runs the polling loop of an export',
    async () => {
      const documentation = await readFile(join(root, 'infra/docs/interfaces/generated-client.mdx'), 'utf8');
      const program = /```ts export-site\.ts\n([^`]*(?:`[^`]+`[^`]*)*?)```/.exec(documentation)?.[1] ?? '';
      const folder = newFolder();
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
      await writeFile(join(folder, 'export-site.ts'), program);
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
      const compilerOptions = {
        ...{ module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: ['node'] },
        allowImportingTsExtensions: true,
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      const generator = join(root, 'node_modules/openapi-typescript/bin/cli.js');
      const typescript5 = join(import.meta.dirname, 'typescript-5.mjs');
      const options = ['--output', 'bindery.d.ts', '--default-non-nullable', 'false'];
      const generate = ['--import', typescript5, generator, `${baseUrl}/openapi.json`, ...options];
      const inFolder = { cwd: folder };
      await run(process.execPath, generate, inFolder);
      await run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], inFolder);

      await harness.publish(join(root, 'infra/docs'));
      const out = join(folder, 'site.tar.gz');
      const env = {
        BASE_URL: baseUrl,
        ADMIN_API_KEY: harness.adminKey,
        DOMAIN: harness.domain,
        OUT: out,
        POLL_SECONDS: '0.2',
      };
      const { stdout } = await run(process.execPath, ['export-site.ts'], {
        ...inFolder,
        env: { ...process.env, ...env },
      });
      expect(stdout.trim()).toBe(sha256Of(await readFile(out)));

      // The compiler knows the described routes, so it refuses an unknown field.
      await writeFile(join(folder, 'export-site.ts'), program.replace('body: { domain:', 'body: { domian:'));
      await expect(run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], inFolder)).rejects.toMatchObject({
        stdout: expect.stringContaining('domian'),
      });
    },
    3 * minuteMs,
  );
});
