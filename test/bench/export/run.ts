/*
 * Measures the costs of an export, as ratios to a reference in the same run. It asserts nothing, because machines differ. `npm run bench:export`
 * measures all; `npm run bench:export -- join log` some; `--runs 5` takes medians of five runs.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { account } from './account.ts';
import { change } from './change.ts';
import { flow, reference } from './flow.ts';
import { generators } from './generators.ts';
import { idle } from './idle.ts';
import { join } from './join.ts';
import { log } from './log.ts';
import { type Measurement, openInstallations } from './measurement.ts';
import { memory } from './memory.ts';
import { reuse } from './reuse.ts';
import { scale } from './scale.ts';
import { sent } from './sent.ts';
import { traces } from './traces.ts';

const measurements: readonly Measurement[] = [
  flow,
  reference,
  generators,
  reuse,
  change,
  account,
  sent,
  join,
  memory,
  idle,
  log,
  scale,
  traces,
];
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const progress = (text: string): void => void process.stderr.write(`  … ${text}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    'ended-jobs': { type: 'string', default: '200000' },
    sizes: { type: 'string', default: '1000,5000,25000' },
    help: { type: 'boolean', default: false },
  },
});
const runs = Number(values.runs);
const endedJobs = Number(values['ended-jobs']);
const sizes = values.sizes.split(',').map(Number);
const unknown = positionals.filter((name) => measurements.every((one) => one.name !== name));
if (
  values.help ||
  unknown.length > 0 ||
  !(runs >= 1) ||
  !(endedJobs > 4_000) ||
  sizes.some((size) => size < 1_000) ||
  ![runs, endedJobs / 2, ...sizes].every(Number.isInteger)
) {
  if (unknown.length > 0) print(`There is no measurement "${unknown[0]}".\n`);
  print(
    'npm run bench:export -- [measurement …] [--runs <how often each is measured, 3>] [--ended-jobs <for scale, even, 200000>] [--sizes <pages for change, account and sent, from 1000>]\n',
  );
  for (const { name, about } of measurements) print(`  ${name.padEnd(10)} ${about}`);
  process.exit(values.help ? 0 : 64);
}
const chosen = measurements.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

const installations = openInstallations();
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    print('Stopping started processes …');
    void installations.stopAll().then(() => process.exit(130));
  });
}

const processors = availableParallelism();
print(
  `${processors} processors (${cpus()[0]?.model ?? 'unknown'}), ${process.platform} ${process.arch}, Node ${process.version}`,
);
try {
  for (const measurement of chosen) {
    const load = loadavg()[0] ?? 0;
    const busy = load > processors * 1.5 ? ': others use this machine, measure again when it is idle' : '';
    print(`\n== ${measurement.name} (load ${load.toFixed(1)}${busy})\n`);
    await measurement.run({ runs, endedJobs, sizes, print, progress, using: installations.using });
  }
} catch (error) {
  // Work whose installation was stopped fails; the signal's handler ends the process.
  if (!interrupted) throw error;
  await new Promise(() => {});
}
