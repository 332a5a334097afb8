/*
 * Processor time of console and gateway, bytes and requests of each page of the console over a large installation, and of 200 live pages while nothing
 * happens. `npm run bench:console`; `-- --share 0.1` takes a tenth of the history, `--runs 20` the mean of 20 requests. It asserts nothing.
 *
 * The history is appended to the logs of a real nats-server, and a real projector makes the read models. The reference is the list of exports of an
 * organization without history.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { countingProxy } from '../support/counting-proxy.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { operatorToken } from '../support/gateway-harness.ts';
import { startServerProcess } from '../support/server-process.ts';
import { environmentOn, startServiceProcess } from '../support/service-process.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';
import {
  fullSizes,
  type HistoryLogs,
  type HistorySizes,
  jobIdAt,
  large,
  small,
  writeHistory,
} from './console-history.ts';
import { openInstallations, ratio, shown, table, temporaryFolder } from './export/measurement.ts';
import { cpuSecondsOf } from './export/process-usage.ts';

const { values } = parseArgs({
  options: { share: { type: 'string', default: '1' }, runs: { type: 'string', default: '20' } },
});
const share = Number(values.share);
const runs = Number(values.runs);
const sizes = Object.fromEntries(
  Object.entries(fullSizes).map(([name, size]) => [name, Math.max(1, Math.round(size * share))]),
) as HistorySizes;
const warmUps = 5;
const livePages = 200;
const idleMs = 60_000;
/** Pause without requests after which the live pages count as idle. */
const quietMs = 10_000;
const personTokenKey = 'the-key-of-tokens-of-people-in-the-benchmark';

const { using } = openInstallations();
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const progress = (text: string): void => void process.stderr.write(`  … ${text}\n`);

await using(temporaryFolder(), ({ path: folder }) =>
  using(startTestBus({ syncsLater: true }), async (bus) => {
    await writeHistory(await logsOf(bus), sizes, new Date(), progress);
    const environment = {
      ...environmentOn(bus, folder),
      BINDERY_PERSON_TOKEN_KEY: personTokenKey,
      BINDERY_LOG_LEVEL: 'info',
    };
    await using(startServiceProcess('projector', environment), (projector) => projected(projector.insideUrl));
    await using(startServiceProcess('gateway', environment), async (gateway) =>
      using(
        countingProxy(Number(new URL(gateway.url).port)).then((proxy) => ({ ...proxy, stop: () => proxy.close() })),
        async (proxy) =>
          using(startConsole(proxy.port, folder), (site) => measureAll({ gateway: gateway.pid, proxy, ...site })),
      ),
    );
  }),
);

/** The logs, each written with the rights of its service. */
async function logsOf(bus: TestBus): Promise<HistoryLogs> {
  const { directory, views } = await bus.connect('gateway', 'history');
  const { content } = await bus.connect('publisher', 'history');
  const { sites } = await bus.connect('deployer', 'history');
  const { exports } = await bus.connect('orchestrator', 'history');
  const { threads } = await bus.connect('assistant', 'history');
  const { access } = await bus.connect('link-signer', 'history');
  return { directory, views, content, sites, exports, threads, access };
}

type Proxy = Awaited<ReturnType<typeof countingProxy>>;
type Servers = { gateway: number; console: number; url: string; proxy: Proxy };

/** Resolves when the read models have everything that is in the logs. */
async function projected(projector: string): Promise<void> {
  for (let left = Infinity; left > 0; ) {
    await delay(1_000);
    const metrics = await (await fetch(`${projector}/metrics`)).text();
    const lags = [...metrics.matchAll(/^bindery_projection_lag_messages\{[^}]*\} (\d+)/gm)].map(([, lag]) =>
      Number(lag),
    );
    left = lags.length === 0 ? Infinity : lags.reduce((sum, lag) => sum + lag, 0);
    progress(`${shown(left)} messages to project`);
  }
}

async function startConsole(gatewayPort: number, folder: string) {
  const main = new URL('../../services/cli/bindery.mjs', import.meta.url).pathname;
  const started = await startServerProcess(
    {
      program: process.execPath,
      args: [main, 'run', 'console'],
      env: {
        ...process.env,
        BINDERY_DATA: folder,
        BINDERY_PLATFORM_URL: `http://127.0.0.1:${gatewayPort}`,
        BINDERY_CONSOLE_PORT: '0',
        BINDERY_CONSOLE_SECRET: 'the-secret-of-sessions-of-the-console-in-the-benchmark',
        BINDERY_PERSON_TOKEN_KEY: personTokenKey,
        BINDERY_LOG_LEVEL: 'info',
      },
    },
    /listening at (http:[^"\s]+)/,
  );
  return { url: started.greeting[1] ?? '', console: started.pid, stop: () => started.kill('SIGTERM') };
}

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ credential: operatorToken }).toString(),
    redirect: 'manual',
  });
  const [cookie = ''] = answer.headers.getSetCookie();
  if (answer.status !== 303 || cookie === '') throw new Error(`Signing in was answered with ${answer.status}.`);
  return cookie.split(';')[0] ?? '';
}

type Cost = { consoleMs: number; gatewayMs: number; bytes: number; requests: number; upstreamBytes: number };

function dayBefore(days: number): string {
  return new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
}

async function measureAll(servers: Servers): Promise<void> {
  const cookie = await signIn(servers.url);
  const read = async (path: string): Promise<string> => {
    const answer = await fetch(servers.url + path, { headers: { cookie } });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}: ${text}`);
    return text;
  };

  async function measure(path: string): Promise<Cost> {
    for (let run = 0; run < warmUps; run += 1) await read(path);
    servers.proxy.reset();
    await read(path);
    const requests = requestsOf(servers.proxy);
    const before = usage(servers);
    servers.proxy.reset();
    let text = '';
    for (let run = 0; run < runs; run += 1) text = await read(path);
    const after = usage(servers);
    return {
      consoleMs: ((after.console - before.console) * 1_000) / runs,
      gatewayMs: ((after.gateway - before.gateway) * 1_000) / runs,
      bytes: Buffer.byteLength(text),
      requests,
      upstreamBytes: servers.proxy.traffic().readBytes / runs,
    };
  }

  /** The address of the last page of a list, by its links to older entries. */
  async function lastPage(path: string): Promise<string> {
    for (let at = path; ; ) {
      const next = /<a class="button" href="([^"]+)" rel="next">/.exec(await read(at))?.[1]?.replaceAll('&amp;', '&');
      if (next === undefined) return at;
      at = next;
    }
  }

  const base = `/o/${large.organization}`;
  const keyId = /href="[^"]+\/keys\/(key_\w+)"/.exec(await read(`${base}/keys`))?.[1] ?? '';
  progress('the last pages');
  const pages: [name: string, path: string][] = [
    ['overview', base],
    ['domains', `${base}/domains`],
    ['domains, last page', await lastPage(`${base}/domains`)],
    ['domain', `${base}/domains/${large.domain}`],
    ['domain, last contents', `${base}/domains/${large.domain}?contents=${sizes.contents - 20}`],
    ['exports', `${base}/exports`],
    ['exports that failed', `${base}/exports?state=failed`],
    ['exports of a state that none has', `${base}/exports?state=queued`],
    ['exports, last page', await lastPage(`${base}/exports`)],
    ['export of 50,000 pages', `${base}/exports/${jobIdAt(sizes.jobs - 1)}`],
    ['export', `${base}/exports/${jobIdAt(5)}`],
    ['keys', `${base}/keys`],
    ['keys, all', `${base}/keys?show=all`],
    ['key', `${base}/keys/${keyId}`],
    ['audit', `${base}/audit`],
    ['audit of an action', `${base}/audit?action=deployment.failed`],
    ['audit of a key', `${base}/audit?actor=${keyId}`],
    ['audit of a request that made no entry', `${base}/audit?request=req_0000`],
    ['audit of a day', `${base}/audit?from=${dayBefore(80)}&to=${dayBefore(80)}`],
    ['audit, last page', await lastPage(`${base}/audit`)],
    ['usage', `${base}/usage`],
    ['usage by month', `${base}/usage?by=month`],
    ['assistant', `${base}/assistant`],
    ['questions', `${base}/assistant/${large.domain}`],
    ['questions of 90 days', `${base}/assistant/${large.domain}?days=90`],
    ['find', `${base}/find?q=nightly`],
    ['organizations', '/organizations'],
    ['organizations, last page', await lastPage('/organizations')],
    ['organization, as an operator', `/organizations/${large.organization}`],
    ['services', '/installation'],
  ];
  progress('the pages');
  const reference = await measure(`/o/${small.organization}/exports`);
  const row = (name: string, cost: Cost): string[] => [
    name,
    shown(cost.consoleMs),
    shown(cost.gatewayMs),
    ratio(cost.consoleMs + cost.gatewayMs, reference.consoleMs + reference.gatewayMs),
    shown(cost.bytes / 1_000),
    String(cost.requests),
    shown(cost.upstreamBytes / 1_000),
  ];
  const rows = [row('reference: exports of a new organization', reference)];
  for (const [name, path] of pages) rows.push(row(name, await measure(path)));
  const contents = `${shown(sizes.jobs)} exports, ${shown(sizes.deployments)} deployments, ${shown(sizes.conversations)} conversations`;
  print(`Pages over ${contents}; means of ${runs} requests\n`);
  const head = ['', 'console ms', 'gateway ms', 'to the reference', 'kB', 'requests', 'kB upstream'];
  print(table(head, rows));
  await measureIdle(servers, cookie);
}

function requestsOf(proxy: Proxy): number {
  return Object.values(proxy.traffic().requests).reduce((sum, count) => sum + count, 0);
}

function usage(servers: Servers): { console: number; gateway: number } {
  const secondsOf = (pid: number): number => cpuSecondsOf([pid]) ?? Number.NaN;
  return { console: secondsOf(servers.console), gateway: secondsOf(servers.gateway) };
}

/** Live pages while nothing happens. */
async function measureIdle(servers: Servers, cookie: string): Promise<void> {
  const stop = new AbortController();
  const path = `/o/${large.organization}/exports/live?after=${new Date().toISOString()}`;
  let bytes = 0;
  servers.proxy.reset();
  const opened = Array.from({ length: livePages }, async () => {
    const answer = await fetch(servers.url + path, { headers: { cookie }, signal: stop.signal });
    const reading = answer.body?.getReader();
    const begun = await reading?.read();
    if (answer.status !== 200 || begun?.done !== false)
      throw new Error(`A live page was answered with ${answer.status}.`);
    void (async () => {
      for (let next = await reading?.read(); next?.done === false; next = await reading?.read())
        bytes += next.value.length;
    })().catch(() => {});
  });
  await Promise.all(opened);
  // Until the pages have read their lists.
  for (let known = -1; known !== requestsOf(servers.proxy); await delay(quietMs)) known = requestsOf(servers.proxy);
  const streams = servers.proxy.traffic().streams;
  bytes = 0;
  servers.proxy.reset();
  const before = usage(servers);
  await delay(idleMs);
  const after = usage(servers);
  const requests = requestsOf(servers.proxy);
  const percent = (seconds: number): string => shown((seconds / (idleMs / 1_000)) * 100);
  print(`\n${livePages} live pages while nothing happens, for ${idleMs / 1_000} s\n`);
  print(
    table(
      ['', 'value'],
      [
        ['console, % of a core', percent(after.console - before.console)],
        ['gateway, % of a core', percent(after.gateway - before.gateway)],
        ['streams from the gateway', String(streams)],
        ['requests to the gateway', String(requests)],
        ['kB from the gateway', shown(servers.proxy.traffic().readBytes / 1_000)],
        ['kB to all pages', shown(bytes / 1_000)],
      ],
    ),
  );
  stop.abort();
}
