/*
 * A documentation host of many sites: the time from a deployment in the feed until readers see it, the memory with all sites read, and requests a second
 * over a few of them and over all, beside nginx with the same files if it is on the PATH. `npm run bench:docs-host-sites -- [sites] [pages]`
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onPath } from '#infra/setup/server-locations.mjs';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { contentFile } from '#services/docs-host/content-folder.ts';
import { readVersionList, type VersionList } from '#services/docs-host/version-list.ts';
import { packTar } from '../support/archives.ts';
import { askHost } from '../support/ask-host.ts';
import { memoryProject } from '../support/memory-project.ts';
import { publishedProject } from '../support/published-project.ts';
import { acceptsConnections } from '../support/server-process.ts';
import { sitesPlatform } from '../support/sites-platform.ts';
import { unpackedSite } from '../support/unpacked-site.ts';
import { medianOf } from './export/measurement.ts';
import { type Load, measureLoad } from './load-generator.ts';

const [sites = 1_000, pages = 50] = process.argv.slice(2).map(Number);
const changes = 10;
const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');
const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-'));
const data = join(folder, 'data');
const [port = 0] = await freePorts(1);
const url = `http://127.0.0.1:${port}`;
const platform = await sitesPlatform();
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const bundles = new Map<string, Buffer>();
let host: ChildProcess | undefined;
let nginx: ChildProcess | undefined;
/** The folders of the served versions. */
const versions: { site: string; folder: string }[] = [];

/** The text of a page: headings, paragraphs of different words, a table and code. */
function pageText(at: number, mark: string): string {
  const word = (n: number) =>
    createHash('sha256')
      .update(`${at} ${n}`)
      .digest('hex')
      .slice(0, 3 + (n % 6));
  const paragraph = (n: number) => Array.from({ length: 70 }, (_, w) => word(n * 70 + w)).join(' ');
  const sections = [1, 2, 3, 4, 5].map(
    (n) =>
      `## Section ${n}\n\n${paragraph(n)}. See [page](/guides/page-${(at * n) % pages}).\n\n| name | value |\n|---|---|\n| a | ${word(n)} |\n\n\`\`\`ts\nconst ${word(n)} = ${n};\n\`\`\`\n`,
  );
  return `---\ntitle: Page ${at}\n---\n\n${mark}\n\n${sections.join('\n')}`;
}

/** The bundle of a site whose first page has `mark`. */
async function bundleOf(mark: string): Promise<Buffer> {
  const names = Array.from({ length: pages }, (_, at) => `guides/page-${at}`);
  const settings = { name: 'Bench', theme: 'mint', colors: { primary: '#0f766e' }, navigation: { pages: names } };
  const texts = names.map((name, at) => [`${name}.mdx`, pageText(at, at === 0 ? mark : 'Text.')]);
  const project = memoryProject({ 'docs.json': JSON.stringify(settings), ...Object.fromEntries(texts) });
  const unpacked = join(folder, 'unpacked');
  await rm(unpacked, { recursive: true, force: true });
  await unpackedSite(await publishedProject(project), unpacked);
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true });
  const files: Record<string, Buffer> = {};
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files[`bench${file.slice(unpacked.length)}`] = await readFile(file);
  }
  return await packTar(files);
}

async function startHost(): Promise<number> {
  host = spawn(process.execPath, [main, 'run', 'docs-host'], {
    env: {
      ...process.env,
      ...platform.env,
      BINDERY_DATA: data,
      BINDERY_DOCS_HOST_PORT: String(port),
      BINDERY_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const startedAt = performance.now();
  await acceptsConnections(port, 60_000);
  return performance.now() - startedAt;
}

async function stopHost(): Promise<void> {
  const ended = host && new Promise((resolve) => host?.once('exit', resolve));
  host?.kill('SIGTERM');
  await ended;
}

/** Resident memory of a process and of its children now, in MB. */
async function memoryOf(pid: number): Promise<{ host: number; peak: number; children: number }> {
  const read = async (id: number | string, name: string): Promise<number> => {
    const text = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
    return Number(new RegExp(`^${name}:\\s+([0-9]+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
  };
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
  const sizes = await Promise.all(children.map((id) => read(id, 'VmRSS')));
  return { host: await read(pid, 'VmRSS'), peak: await read(pid, 'VmHWM'), children: sizes.reduce((a, b) => a + b, 0) };
}

/** Processor time of a process, in ms. */
async function processorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function timeToServe(mark: string, known?: Buffer): Promise<number> {
  const bundle = known ?? (await bundleOf(mark));
  bundles.set(mark, bundle);
  const startedAt = performance.now();
  platform.deploy({ domain: 'site-0', bundle });
  while (!(await askHost(url, 'site-0.localhost', '/guides/page-0')).text.includes(mark)) await delay(5);
  return performance.now() - startedAt;
}

/** The list of the version that is active in the folder of a site; undefined until it has all compressed copies. */
async function copiedList(site: string): Promise<VersionList | undefined> {
  const { active } = JSON.parse(await readFile(join(site, 'state.json'), 'utf8')) as { active: string };
  const list = await readVersionList(join(site, 'versions', active), join(site, 'content'));
  return list?.lacksCopies === true ? undefined : list;
}

/** Copies the folder of the first site for each of the others, as if each had been deployed. */
async function copySites(): Promise<void> {
  const root = join(data, 'docs-host/sites');
  const [first = ''] = await readdir(root);
  const record = JSON.parse(await readFile(join(root, first, 'served.json'), 'utf8')) as { served: object };
  const stored = join(root, first, 'versions');
  const { active } = JSON.parse(await readFile(join(root, first, 'state.json'), 'utf8')) as { active: string };
  const isOlder = (path: string) => path.startsWith(`${stored}/`) && !path.startsWith(join(stored, active));
  versions.push({ site: 'site-0', folder: join(stored, active) });
  const content = join(root, first, 'content');
  for (let at = 1; at < sites; at += 1) {
    const site = `acme/site-${at}`;
    const to = join(root, createHash('sha256').update(site).digest('hex').slice(0, 32));
    const named = {
      site,
      domain: `site-${at}`,
      address: `http://site-${at}.localhost:8090`,
      hosts: [`site-${at}.localhost`],
    };
    // Content never changes, so all sites have the same: a thousand copies of it, or links to each file, would take most of the time of this benchmark.
    await cp(join(root, first), to, { recursive: true, filter: (path) => !isOlder(path) && path !== content });
    await symlink(content, join(to, 'content'));
    const served = { ...record.served, ...named };
    await writeFile(join(to, 'served.json'), JSON.stringify({ ...record, served }));
    platform.sites.set(site, served as never);
    // The ids of versions are unique over all sites.
    const id = `${active.slice(0, 17)}${String(at).padStart(8, '0')}`;
    await rename(join(to, 'versions', active), join(to, 'versions', id));
    versions.push({ site: `site-${at}`, folder: join(to, 'versions', id) });
    await writeFile(join(to, 'state.json'), JSON.stringify({ formatVersion: 1, active: id }));
  }
}

/** nginx with the prepared pages of all sites, and their copies in gzip. */
async function startNginx(): Promise<number> {
  const [at = 0] = await freePorts(1);
  const root = join(folder, 'root');
  const [first] = versions;
  const pagesOfOne = join(folder, 'pages');
  await mkdir(join(pagesOfOne, 'guides'), { recursive: true });
  const content = join(first?.folder ?? '', '../../content');
  const list = await readVersionList(first?.folder ?? '', content);
  for (let page = 0; page < pages; page += 1) {
    const to = join(pagesOfOne, `guides/page-${page}`);
    const file = list?.file(`guides/page-${page}.html`);
    await link(contentFile(content, file?.sha256 ?? ''), to);
    await link(contentFile(content, file?.gzip?.sha256 ?? ''), `${to}.gz`);
  }
  await mkdir(root);
  for (const { site } of versions) await symlink(pagesOfOne, join(root, `${site}.localhost`));
  const config = join(folder, 'nginx.conf');
  await writeFile(
    config,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events { worker_connections 1024; }
http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; open_file_cache max=1000; gzip_static on; gzip_vary on;
client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
server { listen 127.0.0.1:${at}; root ${root}/$host; default_type text/html; add_header cache-control no-cache; add_header x-content-type-options nosniff; } }`,
  );
  nginx = spawn('nginx', ['-c', config, '-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  await acceptsConnections(at, 10_000);
  return at;
}

try {
  await mkdir(data, { recursive: true });
  await startHost();
  say(`first deployment of ${pages} pages: ${(await timeToServe('first')).toFixed(0)} ms until it is served`);
  const times: number[] = [];
  for (let at = 0; at < changes; at += 1) times.push(await timeToServe(`change-${at}`));
  say(
    `deployments with one changed page: median ${medianOf(times)?.toFixed(0)} ms, slowest ${Math.max(...times).toFixed(0)} ms`,
  );
  say(`rollback: ${(await timeToServe('change-7', bundles.get('change-7'))).toFixed(0)} ms`);
  const root = join(data, 'docs-host/sites');
  for (const name of await readdir(root)) while ((await copiedList(join(root, name))) === undefined) await delay(50);
  await stopHost();

  const copiedAt = performance.now();
  await copySites();
  say(`${sites} folders of sites made in ${((performance.now() - copiedAt) / 1_000).toFixed(0)} s`);
  const startMs = await startHost();
  say(`${sites} sites: ${startMs.toFixed(0)} ms from start to listening`);
  const pid = host?.pid ?? 0;
  while ((await fetch(`${url}/readyz`)).status !== 200) await delay(50);
  say(`memory after the start: ${(await memoryOf(pid)).host.toFixed(0)} MB`);
  let wrong = 0;
  for (let at = 0; at < sites; at += 1)
    for (const page of [0, 1, 2]) {
      const answer = await askHost(url, `site-${at}.localhost`, `/guides/page-${(at + page) % pages}`);
      if (answer.status !== 200) wrong += 1;
    }
  say(`each site read: ${JSON.stringify(await memoryOf(pid))} MB, ${wrong} answers were not 200`);
  const nginxPort = onPath('nginx')[0] === undefined ? undefined : await startNginx();
  const hosts = Array.from({ length: sites }, (_, at) => `site-${at}.localhost`);
  const paths = Array.from({ length: pages }, (_, at) => `/guides/page-${at}`);
  const loads = {
    'five pages of 20 sites': { hosts: hosts.slice(0, 20), paths: paths.slice(0, 5) },
    'all pages of all sites': { hosts, paths },
  };
  for (const [what, asked] of Object.entries(loads)) {
    const measured = async (at: number): Promise<Load> =>
      measureLoad({ port: at, ...asked, headers: { 'accept-encoding': 'gzip' }, connections: 32, seconds: 10 });
    await measured(port);
    const before = await processorMs(pid);
    const load = await measured(port);
    const requests = Object.values(load.statuses).reduce((a, b) => a + b, 0);
    const each = (((await processorMs(pid)) - before) * 1_000) / requests;
    say(`${what}: ${JSON.stringify(load)}, ${each.toFixed(0)} µs of processor time each`);
    say(`memory: ${JSON.stringify(await memoryOf(pid))} MB`);
    if (nginxPort === undefined) continue;
    const other = await measured(nginxPort);
    say(`nginx: ${JSON.stringify(other)}; ratio ${(load.requestsPerSecond / other.requestsPerSecond).toFixed(2)}`);
  }
} finally {
  host?.kill('SIGKILL');
  nginx?.kill('SIGKILL');
  await platform.close();
  await rm(folder, { recursive: true, force: true });
}
