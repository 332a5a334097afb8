import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';
import {
  type CommandOutcome,
  runCommand,
  startInstallation,
  type TestInstallation,
} from '../../test/support/start-installation.ts';
import { whenSearched } from './publish-project.ts';

const ownDocumentation = join(import.meta.dirname, '../../infra/docs');
const minuteMs = 60_000;

/** The value that `--json` printed, after a successful run. */
function valueOf({ code, stdout, stderr }: CommandOutcome): unknown {
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

test('check says what publication would say, without a server', async () => {
  const folder = newFolder();
  await writeFile(
    join(folder, 'docs.json'),
    '{"name": "A", "theme": "mint", "colors": {"primary": "#112233"}, "navigation": {"pages": ["index"]}}',
  );
  await writeFile(join(folder, 'index.mdx'), '---\ntitle: A\n---\n\nHello.');
  const good = await runCommand(['check', folder]);
  expect(good).toMatchObject({ code: 0, stdout: '1 page: no problems.\n' });

  await writeFile(join(folder, 'docs.json'), '{"name": "A", "navigation": {"pages": ["index", "con"]}}');
  await writeFile(join(folder, 'index.mdx'), 'Hello.');
  await writeFile(join(folder, 'con.mdx'), 'A name that Windows reserves.');
  const bad = await runCommand(['check', folder]);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^con\.mdx\n {2}error {2}.*\n {6}bad-path {2}\/reference\/findings#bad-path$/m);
  await writeFile(join(folder, 'docs.json'), '{"name": "A", "theme": "mint", "navigation": {"pages": ["index", "b"]}}');
  await writeFile(
    join(folder, 'b.mdx'),
    '---\ntitle: B\n---\n\n<Nothing>x</Nothing> [gone](/index#none) [no](/c) [no](/c) [map](/sitemap.xml)',
  );
  await rm(join(folder, 'con.mdx'));
  await mkdir(join(folder, 'snippets'));
  await writeFile(join(folder, 'snippets/s.mdx'), '<Shared />');
  for (const page of ['c1', 'c2'])
    await writeFile(join(folder, `${page}.mdx`), 'import S from "/snippets/s.mdx";\n\n<S />');
  const rendered = await runCommand(['check', folder]);
  expect(rendered.stdout).toMatch(/^b\.mdx\n {2}5:1 {2}warning {2}There is no component/m);
  expect(rendered.stdout).toMatch(/^ {2}5:22 {2}warning {2}The link to "\/index#none" leads to the page /m);
  expect(rendered.stdout).toMatch(/^broken-anchor +warning +1 +1 +The link to "\/index#none" leads to the page/m);
  expect(rendered.stdout).toMatch(/^ {2}5:42 {2}warning {2}There is no page or file "\/c"/m);
  expect(rendered.stdout).toMatch(/^broken-link +warning +2 +1 +/m);
  expect(rendered.stdout.match(/^snippets\/s\.mdx\n {2}1:1 {2}warning {2}There is no component/gm)).toHaveLength(1);
  const quick = await runCommand(['check', folder, '--no-pages']);
  expect(quick.stdout).not.toContain('broken-link');
  expect(quick.stdout).toMatch(/^Pages were not rendered, so links, .* \(--no-pages\)\.$/m);
  await writeFile(join(folder, 'docs.json'), '{"navigation": ');
  const hopeless = await runCommand(['check', folder, '--json']);
  expect(hopeless.code).toBe(1);
  expect(JSON.parse(hopeless.stdout)).toMatchObject({ publishable: false, diagnostics: [{ file: 'docs.json' }] });
  expect((await runCommand(['check', join(folder, 'none')])).code).toBe(2);
  expect((await runCommand(['check', folder, '--formats'])).code).toBe(2);
});

test('check --fix repairs a project at once, and --since names what a change brought', async () => {
  const folder = newFolder();
  const docs = { name: 'A', theme: 'mint', colors: { primary: '#112233' }, navigation: { pages: ['index', 'old'] } };
  await writeFile(join(folder, 'docs.json'), JSON.stringify(docs));
  await writeFile(join(folder, 'index.mdx'), '---\ntitle: A\n---\n\nSee [the old page](/old) and [none](/none).\n');
  await writeFile(join(folder, 'old.mdx'), '---\ntitle: Old\n---\n\nWords.\n');
  const git = (...args: string[]) =>
    spawnSync('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args]);
  git('init', '-q');
  git('add', '-A');
  expect(git('commit', '-qm', 'x').status).toBe(0);
  git('mv', 'old.mdx', 'new.mdx');
  await writeFile(
    join(folder, 'docs.json'),
    JSON.stringify({ ...docs, navigation: { pages: ['index', 'new'] } }, null, 2),
  );
  const brought = await runCommand(['check', folder, '--since', 'HEAD', '--format', 'github']);
  expect(brought.stdout).toMatch(/^::warning file=docs\.json,title=page-moved::/m);
  expect(brought.stdout).toMatch(/^::warning file=index\.mdx,line=5,col=5,title=broken-link::.*"\/old"/m);
  expect(brought.stdout).not.toContain('"/none"');
  const fixed = await runCommand(['check', folder, '--since', 'HEAD', '--fix', '--json']);
  expect(valueOf(fixed)).toMatchObject({ diagnostics: [], fixed: { 'docs.json': 1, 'index.mdx': 1 } });
  const text = await readFile(join(folder, 'index.mdx'), 'utf8');
  expect(text).toContain('[the old page](/new) and [none](/none)');
  expect(await readFile(join(folder, 'docs.json'), 'utf8')).toContain('"source": "/old", "destination": "/new"');
  const again = await runCommand(['check', folder, '--since', 'HEAD', '--fix', '--json']);
  expect(valueOf(again)).toMatchObject({ diagnostics: [], fixed: {} });
  expect(await readFile(join(folder, 'index.mdx'), 'utf8')).toBe(text);
});

test('bench search measures a folder without a server, with its own questions or with given ones', {
  timeout: 2 * minuteMs,
}, async () => {
  const folder = newFolder();
  const pages = {
    index: 'title: Welcome\n---\n\nFirst, [unlock doors](/keys).',
    keys: 'title: API keys\ndescription: Rotate and revoke what opens your workspace.\n---\n\nA key opens it.',
  };
  await writeFile(join(folder, 'docs.json'), '{"name": "A", "navigation": {"pages": ["index", "keys"]}}');
  for (const [name, text] of Object.entries(pages)) await writeFile(join(folder, `${name}.mdx`), `---\n${text}\n`);
  const own = valueOf(await runCommand(['bench', 'search', folder, '--json']));
  expect(own).toMatchObject({
    kinds: [
      // The page with the link is excluded, and no other page has these words.
      { kind: 'link-text', questions: 1, recallAt5: 0 },
      { kind: 'title', questions: 2, recallAt1: 1 },
      // Without its description the page still has one of its words.
      { kind: 'description', questions: 1, recallAt1: 1 },
    ],
    all: { questions: 4, recallAt5: 0.75 },
    missed: [{ query: 'unlock doors', pages: ['keys'] }],
  });

  const file = join(folder, 'questions.jsonl');
  const lines = ['keys', 'none'].map((page) => JSON.stringify({ query: 'credentials of the API', target: `/${page}` }));
  await writeFile(file, lines.join('\n'));
  const given = await runCommand(['bench', 'search', folder, file, '--misses', '--min-recall', '0.6']);
  expect(given).toMatchObject({ code: 1 });
  expect(given.stderr).toMatch(
    /^1 question cannot be answered, .*"credentials of the API" → \/none\. .*\nrecall@5 is 0\.500, less than 0\.6\.\n$/,
  );
  expect(given.stdout).toMatch(/^kind +questions +recall@1 .*\nquestion +2 +0\.500 +0\.500 /);
  expect(given.stdout).toMatch(
    /\n1 question without .*\n {2}question: "credentials of the API" → \/none; found \/keys/,
  );
});

test('the version is printed', async () => {
  expect(await runCommand(['--version'])).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    stderr: '',
  });
});

test('on an older Node it says how it gets the right one', () => {
  const main = join(import.meta.dirname, 'bindery.mjs');
  const { status, stderr } = spawnSync(process.execPath, ['--no-strip-types', main, 'jobs', 'list'], {
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Bindery needs Node 24, and this is Node \d+.*"npm run -s bindery -- jobs list".*\n$/);
});

test('a failure is a sentence and exit code 1, with --json also JSON', async () => {
  const lost = await runCommand(['keys', 'list']);
  expect(lost).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^bindery: The address of the server is not known: there is no installation in the data folder /,
    ),
  });
  const away = await runCommand(['keys', 'list', '--json', '--url', 'http://127.0.0.1:1', '--key', 'k']);
  expect(away.code).toBe(1);
  expect(JSON.parse(away.stdout)).toMatchObject({ code: 'unreachable', error: expect.stringContaining('127.0.0.1:1') });
  const nowhere = await runCommand(['keys', 'list', '--url', 'nonsense', '--key', 'k']);
  expect(nowhere.stderr).toMatch(/^bindery: "nonsense" is not the address of a server\./);
  const noFile = ['export', 'docs', '--url', 'http://127.0.0.1:1', '--key', 'k', '--out'];
  expect((await runCommand([...noFile, tmpdir()])).stderr).toMatch(/^bindery: --out \S+ is a folder\./);
  expect((await runCommand([...noFile, '/none/docs.tar.gz'])).stderr).toMatch(/there is no folder \/none\./);
  expect((await runCommand([...noFile, ''])).stderr).toBe(
    'bindery: --out is empty. Name a file, such as docs.tar.gz.\n',
  );
  const letter = await runCommand(['dead', 'retry', 'x', '--why', 'late']);
  expect(letter.stderr).toContain('It must be the id of a letter');
  if (existsSync('/dev/full')) {
    const main = join(import.meta.dirname, 'bindery.mjs');
    const full = spawnSync('sh', ['-c', '"$0" "$1" > /dev/full', process.execPath, main], { encoding: 'utf8' });
    expect(full.status).toBe(1);
    expect(full.stderr).toMatch(/^bindery: The output cannot be written: ENOSPC[^\n]*\n$/);
  }
  const wrong = await runCommand(['cancel', '--json']);
  expect(wrong.code).toBe(1);
  expect(JSON.parse(wrong.stdout)).toEqual({ code: 'usage', error: "missing required argument 'jobId'" });
});

describeWithServers(['nats-server'], 'the command against an installation', () => {
  let harness: TestInstallation;
  let operator: Record<string, string>;

  beforeAll(async () => {
    harness = await startInstallation({ processes: 'shared' });
    operator = {
      BINDERY_URL: harness.installation.baseUrl,
      BINDERY_OPERATOR_TOKEN: harness.installation.secrets.operatorToken,
    };
  });
  afterAll(() => harness?.stop());

  const admin = (...args: string[]) =>
    runCommand(args, { BINDERY_URL: harness.installation.baseUrl, BINDERY_KEY: harness.adminKey });

  test('an organization is made, changed and given a domain', async () => {
    const created = valueOf(await runCommand(['orgs', 'create', 'Globex', '--json'], operator)) as {
      organization: { id: string };
      adminKey: { key: string };
    };
    const { id } = created.organization;
    const changed = await runCommand(['orgs', 'change', id, '--plan', 'pro'], operator);
    expect(changed).toMatchObject({ code: 0, stdout: `Now it is ${id} ("Globex", plan pro).\n` });
    const keyFile = join(harness.folder, 'token-keys.json');
    const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    await writeFile(keyFile, JSON.stringify({ keys: [jwk] }));
    const signed = ['--groups', 'signed', '--user-token-keys', keyFile];
    const addDomain = ['orgs', 'add-domain', id, 'docs', '--hosts', 'docs.globex.test', ...signed];
    const added = await runCommand([...addDomain, '--json'], operator);
    expect(valueOf(added)).toEqual({
      domain: 'docs',
      hosts: ['docs.globex.test'],
      groups: 'signed',
      userTokenKeys: [jwk],
    });
    const contents = await runCommand(['contents', 'docs.globex.test'], {
      ...operator,
      BINDERY_KEY: created.adminKey.key,
    });
    expect(contents.stdout).toBe('Nothing has been published to "docs".\n');
    const elsewhere = await runCommand(['contents', 'doks'], { ...operator, BINDERY_KEY: created.adminKey.key });
    expect(elsewhere.stderr).toMatch(/no domain "doks".*bindery orgs add-domain/);
    const again = await runCommand(['orgs', 'add-domain', id, 'docs'], operator);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('"docs" already') });
  });

  test('a key is made, used, rotated, revoked', async () => {
    const made = valueOf(
      await admin('keys', 'create', '--kind', 'admin', '--scopes', 'read', '--name', 'reader', '--json'),
    ) as { id: string; key: string };
    const withKey = (key: string, ...args: string[]) =>
      runCommand([...args, '--url', harness.installation.baseUrl, '--key', key]);
    expect((await withKey(made.key, 'keys', 'list')).stdout).toMatch(new RegExp(`${made.id} +admin +read +good`));
    const refused = await withKey(made.key, 'keys', 'create', '--kind', 'admin');
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('scope') });
    const renewed = valueOf(await admin('keys', 'rotate', made.id, '--overlap-hours', '1', '--json')) as {
      id: string;
      key: string;
    };
    expect((await withKey(renewed.key, 'jobs')).stdout).toBe('No export jobs.\n');
    // Only the secret is printed, so that it can be written to a file that services read.
    const alone = await admin('keys', 'rotate', renewed.id);
    expect(alone).toMatchObject({ stdout: expect.stringMatching(/^svc_[0-9A-Za-z]{36}\n$/) });
    expect(alone.stderr).toMatch(/shown only once[\s\S]*ends in 24 hours/);
    const revoked = await admin('keys', 'revoke', renewed.id);
    expect(revoked.stdout).toBe(`Revoked ${renewed.id}. It made no keys that are still valid.\n`);
    expect((await admin('keys', 'list')).stdout).toMatch(new RegExp(`${renewed.id} +admin +read +revoked`));
  });

  test('publish fetches the API descriptions that a project names by address, and names the content by their bytes alone', async () => {
    const folder = newFolder();
    const body = JSON.stringify({ openapi: '3.0.1', paths: { '/a': { get: { summary: 'Get A' } } } });
    const server = await onLoopback(createServer((_request, response) => void response.end(body)));
    try {
      const openapi = `${server.url}/openapi`;
      await writeFile(
        join(folder, 'docs.json'),
        JSON.stringify({ name: 'A', theme: 'mint', navigation: { openapi } }, null, 1),
      );
      await writeFile(join(folder, 'index.mdx'), 'Hello.');
      const publish = async (...flags: string[]) => {
        const args = ['publish', folder, '--domain', harness.domain, '--json', ...flags];
        const environment = {
          BINDERY_URL: harness.installation.baseUrl,
          BINDERY_KEY: harness.adminKey,
          BINDERY_CACHE: join(folder, '.bindery'),
          // The command only reads the lock in CI.
          CI: '',
        };
        return valueOf(await runCommand(args, environment)) as PublishedContent;
      };
      const codes = ({ diagnostics }: PublishedContent) => diagnostics.map(({ code }) => code);
      const careful = await publish();
      expect(careful.pages).toBe(1);
      expect(codes(careful).filter((code) => /^(?:openapi|remote)/.test(code))).toEqual(['remote-fetch-failed']);
      expect(careful.diagnostics).toContainEqual(expect.objectContaining({ file: 'docs.json', line: 5 }));
      const fetched = await publish('--private-addresses');
      expect(fetched.pages).toBe(2);
      expect(codes(fetched)).not.toContain('openapi-not-fetched');
      const again = await publish('--private-addresses');
      const kept = await publish('--no-remote');
      expect([again, kept].map(({ contentVersion }) => contentVersion)).toEqual([
        fetched.contentVersion,
        fetched.contentVersion,
      ]);
      // Bytes that differ from the lock are not published.
      const lock = join(folder, 'docs.lock.json');
      const other = (await readFile(lock, 'utf8')).replace(/"sha256": "[0-9a-f]+"/, `"sha256": "${'0'.repeat(64)}"`);
      await writeFile(lock, other);
      const refused = await runCommand(['publish', folder, '--domain', harness.domain, '--private-addresses'], {
        BINDERY_URL: harness.installation.baseUrl,
        BINDERY_KEY: harness.adminKey,
        CI: '',
      });
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--refresh') });
    } finally {
      await server.close();
    }
  });

  test('a project is published, listed, searched; an older version promoted and deleted', {
    timeout: 2 * minuteMs,
  }, async () => {
    const { domain } = harness;
    const some = newFolder();
    const pages = (await readdir(join(ownDocumentation, 'concepts'))).map((file) => `concepts/${file.split('.')[0]}`);
    await cp(join(ownDocumentation, 'concepts'), join(some, 'concepts'), { recursive: true });
    await writeFile(join(some, 'docs.json'), JSON.stringify({ name: 'Bindery', navigation: { pages } }));
    const first = await harness.publish(some, 'v1');
    const folder = newFolder();
    await writeFile(join(folder, 'docs.json'), '{"name": "A", "navigation": {"pages": ["index"]}}');
    await writeFile(join(folder, 'index.mdx'), '---\ntitle: Start\n---\n\nHello.');
    const second = valueOf(await admin('publish', folder, '--domain', domain, '--json')) as {
      contentVersion: string;
    };
    const listed = await admin('contents', domain);
    expect(listed.stdout).toMatch(new RegExp(`${second.contentVersion} .* latest`));
    expect((await admin('contents', domain, '--promote', 'v1')).stdout).toBe(
      `${first.contentVersion} is the latest now.\n`,
    );
    const deleted = await admin('contents', domain, '--delete', second.contentVersion.slice(0, 20));
    expect(deleted).toMatchObject({ code: 0, stdout: `Deleted ${second.contentVersion}.\n` });
    const kept = await admin('contents', domain, '--delete', 'v1');
    expect(kept).toMatchObject({ code: 1, stderr: expect.stringContaining('latest') });
    await whenSearched(harness.admin, domain, first.contentVersion);
    const found = await runCommand(['search', domain, 'check a bundle', '--limit', '3'], {
      BINDERY_URL: harness.installation.baseUrl,
      BINDERY_KEY: harness.assistantKey,
    });
    expect(found.stdout).toContain('(/concepts/bundle');
    const json = await admin('search', domain, 'bundle', '--limit', '2', '--json');
    expect(valueOf(json)).toHaveLength(2);
    expect(json.stdout).not.toContain('explanation');
    const explained = await admin('search', domain, 'check a bundle', '--limit', '3', '--explain');
    expect(explained.stdout).toMatch(/^score +coverage +passages .* passage\n0\.\d{3} .*\/concepts\/bundle/);
    expect(explained.stdout).toContain('bundl: bundl');
    const german = await admin('search', domain, 'Wie kann ich ein bundle mit dem Befehl prüfen?');
    expect(german.stderr).toMatch(
      /^The question seems to be in German, and the passages that were found are in English\./,
    );

    // Measures through the public API alone, with a reader's key.
    const measured = await runCommand(['bench', 'search', domain, '--limit', '5', '--most-pages', '20', '--json'], {
      BINDERY_URL: harness.installation.baseUrl,
      BINDERY_KEY: harness.assistantKey,
    });
    expect(valueOf(measured)).toMatchObject({
      site: domain,
      kinds: [
        { kind: 'link-text', questions: expect.any(Number) },
        { kind: 'title', questions: 5, recallAt5: 1 },
        { kind: 'description', questions: 5 },
      ],
    });
  });

  test('an export is watched to its end, drawn, and replayed to the same digest', async () => {
    const started = valueOf(await admin('export', harness.domain, '--version', 'v1', '--json'));
    expect(started).toMatchObject({ version: 'v1' });
    const { jobId } = started as { jobId: string };
    const watched = await admin('jobs', jobId, '--watch');
    expect(watched.code).toBe(0);
    expect(watched.stdout.trim().split('\n').at(-1)).toContain('completed');

    const drawn = await admin('events', jobId);
    expect(drawn.stdout).toMatch(/● completed after .*\n/);
    expect(drawn.stdout).toMatch(/renderer \w+ .*[█▁▂▃▄▅▆▇▊]/);
    expect(drawn.stdout).toMatch(/ExportCompleted/);
    const listed = await admin('events', jobId, '--list');
    expect(listed.stdout).toMatch(/^ {3}1 {2}.* ExportRequested/);

    const file = join(harness.folder, 'job.html');
    expect((await admin('events', jobId, '--html', file)).stdout).toBe(`Wrote ${file}.\n`);
    expect(await readFile(file, 'utf8')).toMatch(/<title>Chunk 0: /);

    const replayed = await admin('replay', jobId, '--wait');
    expect(replayed.stdout).toBe(`same: the bundle is that of ${jobId}, byte for byte.\n`);
    const late = await admin('cancel', jobId);
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('ended') });
  });

  test('the audit says all of it, and usage counts it', async () => {
    const wait = ['--wait', '--out', join(harness.folder, 'site.tar.gz')];
    const { job } = valueOf(await admin('export', harness.domain, ...wait, '--json')) as { job: { jobId: string } };
    const { jobId } = job;
    const ofJob = async () =>
      valueOf(await admin('audit', 'list', '--job', jobId, '--json')) as { entries: Record<string, unknown>[] };
    // Read models lag behind the logs by some milliseconds.
    const entries = await vi.waitFor(async () => {
      const found = (await ofJob()).entries;
      expect(found.map(({ action }) => action)).toEqual(['link.signed', 'export.completed', 'export.requested']);
      return found;
    }, 60_000);
    expect(entries[0]).toMatchObject({ domain: harness.domain, address: '127.0.0.1', actor: { kind: 'key' } });
    const lines = await admin('audit', 'list', '--job', jobId, '--ndjson');
    expect(
      lines.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(entries);
    const shown = await admin('audit', 'list', '--action', 'key');
    expect(shown.stdout).toMatch(
      /^\d\d:\d\d:\d\d {2}key\.created .*\n +↳ admin key, "reader", address [0-9a-f]{8}…, request req_\w{22}$/m,
    );
    expect(valueOf(await admin('audit', 'list', '--address', '127.0.0.1', '--action', 'link', '--json'))).toEqual({
      entries: [entries[0]],
    });
    const wrong = await admin('audit', 'list', '--since', 'yesterday');
    expect(wrong).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^bindery: --since must be a time such as /),
    });

    const used = valueOf(await admin('usage', '--json')) as { months: { total: Record<string, number> }[] };
    expect(used.months[0]?.total.exportsStarted).toBeGreaterThanOrEqual(1);
    expect(used.months[0]?.total.linksSigned).toBeGreaterThanOrEqual(1);
    expect((await admin('usage')).stdout).toMatch(/^in all +\d+ /m);
  });
});
