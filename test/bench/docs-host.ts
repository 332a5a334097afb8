/*
 * Measures the speed of the documentation host against nginx with the same files and headers in the same run: a page and its files, compressed, over
 * keep-alive connections, with one process of each. `npm run bench:docs-host -- <unpacked or packed bundle> [runs]`
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { onPath } from '#infra/setup/server-locations.mjs';
import { aligned } from '#services/cli/terminal.ts';
import { acceptsConnections } from '../support/server-process.ts';
import { medianOf } from './export/measurement.ts';
import { type Load, measureLoad } from './load-generator.ts';

const [bundle, runs = '3'] = process.argv.slice(2);
const connections = 32;
const seconds = 5;
const acceptGzip = { 'accept-encoding': 'gzip' };
const mostPages = 30;
const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');

if (bundle === undefined) throw new Error('Name a bundle: npm run bench:docs-host -- site.tar.gz');
if (onPath('nginx')[0] === undefined) throw new Error('There is no nginx on the PATH: install the package nginx.');
const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-'));
const [hostPort = 0, nginxPort = 0] = await freePorts(2);
const children: ChildProcess[] = [];

type Answer = { status: number; headers: Record<string, string>; body: Buffer };

async function get(port: number, path: string): Promise<Answer> {
  const asked = request({ port, host: '127.0.0.1', path, headers: acceptGzip }).end();
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', (answer) => {
      const headers = answer.headers as Record<string, string>;
      buffer(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers, body }), reject);
    });
  });
}

async function startHost(): Promise<void> {
  const env = { BINDERY_DATA: folder, BINDERY_DOCS_HOST_PORT: String(hostPort), BINDERY_BUNDLE_PATH: bundle };
  children.push(
    spawn(process.execPath, [main, 'run', 'docs-host'], {
      env: { ...process.env, ...env, BINDERY_LOG_LEVEL: 'error' },
      stdio: ['ignore', 'inherit', 'inherit'],
    }),
  );
  await acceptsConnections(hostPort, 30_000);
  while ((await get(hostPort, '/readyz')).status !== 200) await delay(100);
}

/** Some pages and the files that they load: at most `mostPages` pages of the sitemap, or those that the first page links to. */
async function pathsOfSite(): Promise<string[]> {
  const first = plain(await get(hostPort, '/')).toString();
  const linked = [...first.matchAll(/href="(\/[^"#?]*)"/g)].map(([, path = '']) => path);
  const pages = [...new Set(['/', ...linked])].slice(0, mostPages);
  const assets = [...first.matchAll(/(?:src|href)="(\/_bindery\/[^"#?]+)"/g)].map(([, path = '']) => path);
  const answers = await Promise.all(
    [...new Set([...pages, ...assets])].map(async (path) => ({ path, ...(await get(hostPort, path)) })),
  );
  return answers.filter(({ status }) => status === 200).map(({ path }) => path);
}

const plain = ({ headers, body }: Answer): Buffer => (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);

/** Starts nginx with the files and headers that the host answers with. */
async function startNginx(paths: readonly string[]): Promise<void> {
  const root = join(folder, 'root');
  const locations: string[] = [];
  for (const path of paths) {
    const answer = await get(hostPort, path);
    const file = path === '/' ? '/index' : path;
    await mkdir(join(root, dirname(file)), { recursive: true });
    await writeFile(join(root, file), plain(answer));
    if (answer.headers['content-encoding'] === 'gzip') await writeFile(join(root, `${file}.gz`), answer.body);
    const {
      'content-type': type = '',
      'cache-control': caching = '',
      'content-security-policy': policy,
    } = answer.headers;
    const headers = Object.entries({
      'cache-control': caching,
      ...(policy === undefined ? {} : { 'content-security-policy': policy }),
      'x-content-type-options': 'nosniff',
      'referrer-policy': answer.headers['referrer-policy'] ?? '',
    });
    locations.push(
      `location = "${path}" { default_type "${type}"; types {} try_files ${file} =404; ${headers.map(([name, value]) => `add_header ${name} "${value.replaceAll('"', '\\"')}";`).join(' ')} }`,
    );
  }
  const config = join(folder, 'nginx.conf');
  await writeFile(
    config,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events { worker_connections 1024; }
http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; open_file_cache max=1000; gzip_static on; gzip_vary on;
client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
server { listen 127.0.0.1:${nginxPort}; root ${root};
${locations.join('\n')}
} }`,
  );
  children.push(spawn('nginx', ['-c', config, '-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] }));
  await acceptsConnections(nginxPort, 10_000);
}

try {
  await startHost();
  const paths = await pathsOfSite();
  await startNginx(paths);
  const bytes = await Promise.all(paths.map(async (path) => (await get(hostPort, path)).body.length));
  const sameBytes = await Promise.all(paths.map(async (path) => (await get(nginxPort, path)).body.length));
  const different = paths.filter((_, at) => bytes[at] !== sameBytes[at]);
  if (different.length > 0) throw new Error(`nginx answers with other bytes to ${different.join(', ')}.`);
  const loads: Record<'nginx' | 'host', Load[]> = { nginx: [], host: [] };
  const measured = async (port: number) => measureLoad({ port, paths, headers: acceptGzip, connections, seconds });
  for (let run = 0; run < Number(runs); run += 1) {
    loads.nginx.push(await measured(nginxPort));
    loads.host.push(await measured(hostPort));
  }
  const wrong = [...loads.nginx, ...loads.host].filter(({ statuses }) => Object.keys(statuses).join() !== '200');
  if (wrong.length > 0) throw new Error(`Not every answer was 200: ${JSON.stringify(wrong[0]?.statuses)}`);
  const of = (who: 'nginx' | 'host', what: 'requestsPerSecond' | 'p99Ms' | 'medianMs') =>
    medianOf(loads[who].map((load) => load[what])) ?? Number.NaN;
  const row = (what: 'requestsPerSecond' | 'p99Ms' | 'medianMs', digits: number) => [
    what,
    of('nginx', what).toFixed(digits),
    of('host', what).toFixed(digits),
    (of('host', what) / of('nginx', what)).toFixed(2),
  ];
  process.stdout.write(`${paths.length} addresses, ${connections} connections, ${runs} runs of ${seconds} s\n`);
  const rows = [['', 'nginx', 'host', 'ratio'], row('requestsPerSecond', 0), row('medianMs', 2), row('p99Ms', 2)];
  for (const line of aligned(rows, (column) => column > 0)) process.stdout.write(`${line.join('  ')}\n`);
} finally {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
}
