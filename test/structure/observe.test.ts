import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';

const root = join(import.meta.dirname, '../..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const observe = 'infra/observe';

/** Names of the metrics in our code and in the Prometheus client, without the suffixes of histograms. */
const known = new Set<string>(['up', ...namesInCode(), ...namesOfProcess()]);

function namesInCode(): string[] {
  const files = globSync('{services,shared}/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  return files.flatMap((file) => [...text(file).matchAll(/'(bindery_[a-z_]+)'/g)].map(([, name = '']) => name));
}

function namesOfProcess(): string[] {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register.getMetricsAsArray().map(({ name }) => name);
}

const unknownIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:bindery|nodejs|process)_[a-z0-9_]+/g)]
    .map(([name]) => name)
    .filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|count|sum)$/, '')));

type Rule = { alert: string; expr: string; annotations: Record<string, string> };
const { groups } = load(text(`${observe}/alerts.yaml`)) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

test.each(rules.map((rule) => [rule.alert, rule] as const))('%s uses existing metrics', (_name, rule) => {
  expect(unknownIn(rule.expr), 'infra/observe/alerts.yaml names metrics that no code makes').toEqual([]);
  expect(rule.annotations.runbook).toMatch(/^.{30,}[.]$/);
  expect(rule.annotations.summary).toMatch(/.{10,}/);
});

test('alerts have distinct names', () => {
  const names = rules.map(({ alert }) => alert);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('the board uses existing metrics, and its panels have distinct ids', () => {
  type Panel = { id: number; title: string; targets?: { expr: string }[] };
  const { panels } = JSON.parse(text(`${observe}/grafana/bindery.json`)) as { panels: Panel[] };
  expect(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => unknownIn(expr)))).toEqual([]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

test('every metric has its line in the documentation, and the documentation names no other', () => {
  const page = `${text('infra/docs/operate/observability.mdx')}${text('infra/docs/operate/docs-host.mdx')}`;
  const named = new Set([...page.matchAll(/\bbindery_[a-z_]+/g)].map(([name]) => name));
  const files = globSync('{services,shared}/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const made = /(?:\.(?:gauges?|total|counter|histogram)\(\s*|\bname: )'(bindery_[a-z_]+)'/g;
  const measured = files.flatMap((file) => [...text(file).matchAll(made)].map(([, name = '']) => name));
  const advice =
    'describe each metric in infra/docs/operate/observability.mdx or docs-host.mdx beside it, and name no other there';
  expect([...named].toSorted(), advice).toEqual([...new Set(measured)].toSorted());
});

test('a service without any process is an alert, because it has no target that could be "down"', () => {
  expect(rules.find(({ alert }) => alert === 'BinderyServiceGone')?.expr).toMatch(/last_over_time\(.*unless/);
  const down = rules.find(({ alert }) => alert === 'BinderyServiceDown')?.expr ?? '';
  const [, pattern = ''] = /job=~"([^"]+)"/.exec(down) ?? [];
  // Compose has one job. The job of a PodMonitor has its name, with its namespace before it.
  for (const job of ['bindery', 'bindery-gateway', 'docs/bindery', 'docs/bindery-gateway'])
    expect(job).toMatch(new RegExp(`^(?:${pattern})$`));
});

test('every service is scraped', () => {
  const { scrape_configs: jobs } = load(text(`${observe}/prometheus.yaml`)) as {
    scrape_configs: { dns_sd_configs: { names: string[] }[] }[];
  };
  const read = jobs.flatMap((job) => job.dns_sd_configs.flatMap(({ names }) => names));
  expect(read.toSorted(), 'infra/observe/prometheus.yaml scrapes exactly the services').toEqual(
    [...serviceNames, 'console'].toSorted(),
  );
});

test('commands in runbooks exist in the command line, and files that Compose mounts exist', () => {
  const commands = text('infra/docs/reference/commands.mdx');
  // A command has a line of its own; a group such as "projections" is not a command.
  for (const { annotations } of rules)
    for (const [, command = ''] of (annotations.runbook ?? '').matchAll(/"bindery ([a-z]+(?: [a-z]+)?)/g))
      expect(commands).toMatch(new RegExp(`^bindery ${command}(?: [<[].*)?$`, 'm'));
  const compose = load(text('docker-compose.yml')) as { configs: Record<string, { file: string }> };
  for (const { file } of Object.values(compose.configs))
    expect([file, existsSync(join(root, file))]).toEqual([file, true]);
});
