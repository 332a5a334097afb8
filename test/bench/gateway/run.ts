/*
 * Measures the costs of the gateway. `npm run bench:gateway` measures all; `npm run bench:gateway -- status` or `keys` one; `--runs 5` takes medians
 * of five runs. It asserts nothing, because machines differ.
 *
 * `status`: an authenticated, limited read of an export's status through the gateway, against a bare Fastify route that reads the same document
 * from the same bucket and answers with the same bytes; over keep-alive connections, one process of each. `--profile <folder>` keeps CPU profiles.
 * `keys`: start, memory and the first request of a key that a gateway has not seen, with many keys, compared with an installation of one organization.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedis } from '../../support/start-redis.ts';
import { startTestBus } from '../../support/start-bus.ts';
import { medianOf, openInstallations, ratio, shown, table } from '../export/measurement.ts';
import { type Load, measureLoad } from '../load-generator.ts';
import { storeJobs, storeKey, storeKeys } from './documents.ts';
import { type BenchServer, serve } from './servers.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    organizations: { type: 'string', default: '10000' },
    profile: { type: 'string' },
  },
});
const runs = Number(values.runs);
const seconds = Number(values.seconds);
const connections = 32;
const jobs = 200;
const keysOfEach = 20;
const organization = 'bench';
const installations = openInstallations();
const { using } = installations;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

type Measured = Pick<Load, 'requestsPerSecond' | 'p99Ms'> & { cpuMicros: number };

async function measured({ port, usage }: BenchServer, paths: string[], key: string): Promise<Measured> {
  const before = await usage();
  const load = await measureLoad({ port, paths, headers: { authorization: `Bearer ${key}` }, connections, seconds });
  const used = (await usage()).cpuSeconds - before.cpuSeconds;
  if (Object.keys(load.statuses).join() !== '200')
    throw new Error(`Not all answers have the status 200: ${JSON.stringify(load)}`);
  return { ...load, cpuMicros: (used * 1e6) / (load.requestsPerSecond * seconds) };
}

async function status(folder: string): Promise<void> {
  await using(startTestBus({ syncsLater: true }), async (bus) => {
    const { blue } = (await bus.connect('projector')).generations;
    const key = await storeKey(blue, organization);
    const paths = (await storeJobs(blue, organization, jobs)).map((jobId) => `/bench/${jobId}`);
    await using(startRedis(), async ({ url: redisUrl }) => {
      const options = { folder, profileFolder: values.profile };
      await using(serve(bus, 'bare', organization, options), async (bare) =>
        using(serve(bus, 'gateway', organization, options), async (memory) =>
          using(serve(bus, 'gateway', organization, { ...options, redisUrl }), async (redis) => {
            const servers = {
              'bare route': bare,
              'gateway, counts in memory': memory,
              'gateway, counts in Redis': redis,
            };
            const answers = await Promise.all(
              Object.values(servers).map(async ({ port }) => {
                const headers = { authorization: `Bearer ${key}` };
                return (await fetch(`http://127.0.0.1:${port}${paths[0]}`, { headers })).text();
              }),
            );
            if (new Set(answers).size !== 1) throw new Error(`The answers differ: ${answers.join('\n')}`);
            const results = Object.keys(servers).map((): Measured[] => []);
            for (let run = -1; run < runs; run += 1) {
              for (const [at, server] of Object.values(servers).entries()) {
                const result = await measured(server, paths, key);
                if (run >= 0) results[at]?.push(result);
              }
            }
            print(
              `Status of ${jobs} exports in turns, ${connections} connections; medians of ${runs} runs of ${seconds} s\n`,
            );
            print(
              table(
                ['', 'requests/s', 'to the bare route', 'p99 ms', 'to it', 'processor µs', 'to it'],
                Object.keys(servers).map((name, at) => [name, ...cells(results[at] ?? [], results[0] ?? [])]),
              ),
            );
          }),
        ),
      );
    });
  });
}

/** Each figure, with the median of its ratios to the measurement right before or after it. */
function cells(of: readonly Measured[], bare: readonly Measured[]): string[] {
  return (['requestsPerSecond', 'p99Ms', 'cpuMicros'] as const).flatMap((figure) => [
    shown(medianOf(of.map((each) => each[figure]))),
    ratio(medianOf(of.map((each, at) => each[figure] / (bare[at]?.[figure] ?? Number.NaN))), 1),
  ]);
}

async function keys(folder: string): Promise<void> {
  const rows: string[][] = [];
  const counts = [1, Number(values.organizations)];
  for (const organizations of counts) {
    await using(startTestBus({ syncsLater: true }), async (bus) => {
      const { blue } = (await bus.connect('projector')).generations;
      const texts = await storeKeys(blue, organizations, keysOfEach);
      const starts: number[] = [];
      const memories: number[] = [];
      const used: number[] = [];
      const firsts: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        await using(serve(bus, 'gateway', organization, { folder }), async ({ port, startSeconds, usage }) => {
          starts.push(startSeconds);
          for (const key of texts.slice(run * keysOfEach, (run + 1) * keysOfEach)) {
            const askedAt = performance.now();
            const headers = { authorization: `Bearer ${key}` };
            const answer = await fetch(`http://127.0.0.1:${port}/v1/static-export/jobs`, { headers });
            await answer.text();
            if (answer.status !== 200) throw new Error(`A key got ${answer.status}.`);
            firsts.push(performance.now() - askedAt);
          }
          await whenIdle(usage);
          const { cpuSeconds, residentBytes } = await usage();
          used.push(cpuSeconds);
          memories.push(residentBytes / 1e6);
        });
      }
      rows.push([
        `${organizations} × ${keysOfEach} keys`,
        ...[starts, used, memories, firsts].map((figures) => shown(medianOf(figures))),
        shown(Math.max(...firsts)),
      ]);
    });
  }
  print(`A gateway beside many keys; medians of ${runs} starts\n`);
  print(table(['', 'start s', 'processor s', 'memory MB', 'first request ms', 'slowest ms'], rows));
  print(
    '  Processor: processor time until the gateway is idle. First request: of a key that this gateway has not seen.',
  );
}

/** Waits until a server has used less than 100 ms of processor time in each of two consecutive seconds. */
async function whenIdle(usage: BenchServer['usage']): Promise<void> {
  for (let before = Number.NaN, same = 0; same < 2; ) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { cpuSeconds } = await usage();
    // The limit allows for the cost of measuring, which includes a garbage collection.
    same = cpuSeconds - before < 0.1 ? same + 1 : 0;
    before = cpuSeconds;
  }
}

const measurements = { status, keys };
const unknown = positionals.find((name) => !(name in measurements));
if (unknown !== undefined)
  throw new Error(`There is no measurement "${unknown}". The measurements are status and keys.`);
const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void installations.stopAll().then(() => process.exit(130)));
try {
  for (const [name, measure] of Object.entries(measurements)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    print(`\n== ${name}\n`);
    await measure(folder);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
