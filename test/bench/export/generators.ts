import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setInterval as every } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import { serviceNames } from '#infra/supervisor/services.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import { packTar } from '../../support/archives.ts';
import { forgetSegments, publishArchive } from '../../support/installation-exports.ts';
import { exportPathOnly, type TestInstallation } from '../../support/start-installation.ts';
import { neutralCorpus, neutralProject } from '../render/neutral-corpus.ts';
import { cpuSecondsOfInstallation, exportToLink, startExportInstallation, untilCalm } from './export-installation.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table, temporaryFolder } from './measurement.ts';
import { cpuSecondsOf, residentBytesBelow } from './process-usage.ts';

const changedPage = 'guides/part-10/page-500.md';
const slots = availableParallelism();

type Run = { seconds: number; cpuSeconds: number | undefined };
type Row = { name: string; pages: number; runs: Run[] };

/** The neutral corpus: the whole platform from request to link, and Eleventy with Prism and navigation in the same run. */
export const generators: Measurement = {
  name: 'generators',
  about:
    '1,000 neutral pages, published, and from request to link: fresh processes, warm, all there, one page changed; against Eleventy',
  async run(bench) {
    const files = neutralProject();
    const pages = neutralCorpus().size;
    const eleventy: Row = { name: 'Eleventy with Prism and navigation', pages, runs: [] };
    const rows = {
      publication: { name: 'publication, with indexing', pages, runs: [] } as Row,
      fresh: { name: 'export, fresh processes', pages, runs: [] } as Row,
      warm: { name: 'export, warm processes', pages, runs: [] } as Row,
      again: { name: 'export, all segments present', pages, runs: [] } as Row,
      update: { name: 'publication, one page changed', pages, runs: [] } as Row,
      changed: { name: 'export, one page changed', pages, runs: [] } as Row,
    };
    const peaks: number[] = [];
    const program = await installedEleventy(bench);
    for (let run = 0; run < bench.runs; run += 1) {
      if (program !== undefined) {
        bench.progress(`Eleventy, run ${run + 1}`);
        eleventy.runs.push(await bench.using(temporaryFolder(), ({ path }) => eleventyRun(program, path)));
      }
      bench.progress(`the platform, run ${run + 1}`);
      const start = () =>
        startExportInstallation({
          environment: { BINDERY_RENDERER_SLOTS: String(slots) },
          copies: { ...exportPathOnly, indexer: 1 },
        });
      peaks.push(await bench.using(start(), (harness) => peakOfFirstExport(harness, files)));
      await bench.using(start(), async (harness) => {
        const step = async (row: Row, work: () => Promise<unknown>): Promise<void> => {
          // Work left from the start must not be measured, and the processor time of children that end during a step is lost.
          await untilCalm(harness);
          row.runs.push(await timed(harness, work));
        };
        const exported = () => exportToLink(harness.admin, harness.domain);
        const changed = { ...files, [changedPage]: `${files[changedPage]}\nA sentence was added.\n` };
        await step(rows.publication, () => publishAndIndex(harness, files));
        await step(rows.fresh, exported);
        await forgetSegments(harness);
        await step(rows.warm, exported);
        await step(rows.again, exported);
        await step(rows.update, () => publishAndIndex(harness, changed));
        await step(rows.changed, exported);
      });
    }
    const reference = figures(eleventy);
    bench.print(`${shown(pages)} neutral pages; one renderer of ${slots} slots; medians of ${bench.runs}\n`);
    bench.print(
      table(
        ['', 'seconds', 'pages/s', 'to Eleventy', 'CPU ms/page', 'to Eleventy'],
        [...(program === undefined ? [] : [eleventy]), ...Object.values(rows)].map((row) => {
          const { seconds, rate, cpuMs } = figures(row);
          const others = [shown(rate), ratio(rate, reference.rate), shown(cpuMs), ratio(cpuMs, reference.cpuMs)];
          return [row.name, shown(seconds), ...others];
        }),
      ),
    );
    bench.print(
      `  Peak memory of all processes in the first export: ${shown((medianOf(peaks) ?? Number.NaN) / 1e6)} MB (PSS).`,
    );
    bench.print(
      '  Each step begins when the previous one has ended. Fresh processes: the first export, by children that warmed up on sample pages.',
    );
    bench.print('  Eleventy writes HTML alone: no search index, no Markdown twins, no archive.');
  },
};

function figures({ pages, runs }: Row) {
  const seconds = medianOf(runs.map((run) => run.seconds));
  const cpuMs = medianOf(
    runs.map(({ cpuSeconds }) => (cpuSeconds === undefined ? undefined : (cpuSeconds * 1_000) / pages)),
  );
  return { seconds, rate: seconds === undefined ? undefined : pages / seconds, cpuMs };
}

async function timed(harness: TestInstallation, work: () => Promise<unknown>): Promise<Run> {
  const [startedAt, before] = [performance.now(), cpuSecondsOfInstallation(harness)];
  await work();
  const [seconds, after] = [(performance.now() - startedAt) / 1_000, cpuSecondsOfInstallation(harness)];
  return { seconds, cpuSeconds: before === undefined || after === undefined ? undefined : after - before };
}

async function publishAndIndex(harness: TestInstallation, files: Record<string, string>): Promise<void> {
  const { contentVersion } = await publishArchive(harness, await packTar(files));
  await whenSearched(harness.admin, harness.domain, contentVersion);
}

const sampleEveryMs = 100;

/** Peak memory of all processes, in bytes. It is measured in a run that is not timed, because each sample takes about 70 ms of processor time. */
async function peakOfFirstExport(harness: TestInstallation, files: Record<string, string>): Promise<number> {
  await publishAndIndex(harness, files);
  const peak = watchMemory(harness);
  await exportToLink(harness.admin, harness.domain);
  return peak();
}

/** Samples the memory of all processes until the returned function is called, which returns the peak, in bytes. */
function watchMemory({ installation }: TestInstallation): () => Promise<number> {
  const stop = new AbortController();
  let most = 0;
  const sample = () => {
    const roots = [...serviceNames, 'nats-server' as const].flatMap((name) => installation.pids(name));
    most = Math.max(most, residentBytesBelow(roots) ?? Number.NaN);
  };
  const watching = (async () => {
    for await (const _ of every(sampleEveryMs, undefined, { signal: stop.signal })) sample();
  })().catch(() => {});
  return async () => {
    stop.abort();
    await watching;
    return most;
  };
}

const run = promisify(execFile);
const eleventyPackages = [
  '@11ty/eleventy@3.1.8',
  '@11ty/eleventy-navigation@1.0.5',
  '@11ty/eleventy-plugin-syntaxhighlight@5.0.2',
];

/** Folder of Eleventy, which is installed once, beside the servers. Undefined, with a message, where that is not possible. */
async function installedEleventy(bench: Bench): Promise<string | undefined> {
  const folder = join(cacheFolder(), 'bench', 'eleventy-3.1.8');
  if (existsSync(join(folder, 'node_modules', '@11ty', 'eleventy-plugin-syntaxhighlight'))) return folder;
  bench.progress('installing Eleventy');
  await mkdir(folder, { recursive: true });
  try {
    await run('npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--prefix',
      folder,
      ...eleventyPackages,
    ]);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    bench.print(
      `Eleventy is not measured, because npm could not install it: ${(error as Error).message.split('\n')[0]}\n`,
    );
    return undefined;
  }
}

const eleventyConfig = `
const navigation = require('@11ty/eleventy-navigation');
const highlight = require('@11ty/eleventy-plugin-syntaxhighlight');
module.exports = (config) => {
  config.addPlugin(navigation);
  config.addPlugin(highlight);
  // Its filter sorts all pages again for each page: once is enough.
  let entries;
  config.addFilter('navigationOnce', (pages) => (entries ??= navigation.navigation.find(pages)));
  config.setTemplateFormats(['md']);
  return { markdownTemplateEngine: false, dir: { input: 'pages', includes: '../_includes', output: 'site' } };
};
`;

/** The navigation on each page, as in our sidebar: the pages of the open part, and links to the others. */
const eleventyLayout = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><meta name="description" content="{{ description }}">
<link rel="stylesheet" href="/theme.css"></head>
<body><nav><ul>{% for entry in collections.all | navigationOnce %}<li><a href="{{ entry.url }}">{{ entry.title }}</a>{% if entry.key == part %}
<ul>{% for child in entry.children %}<li><a href="{{ child.url }}">{{ child.title }}</a></li>{% endfor %}</ul>{% endif %}</li>{% endfor %}</ul></nav>
<main><h1>{{ title }}</h1><p>{{ description }}</p>{{ content | safe }}</main></body></html>
`;

const eleventyData = `
module.exports = {
  layout: 'page.njk',
  eleventyComputed: {
    part: (data) => data.page.filePathStem.split('/')[2],
    eleventyNavigation: (data) => {
      const [, , part, name] = data.page.filePathStem.split('/');
      return name === 'index' ? { key: part, title: part } : { key: part + '/' + name, title: data.title, parent: part };
    },
  },
};
`;

/** Writes the corpus and builds it in a new process, as a user would. */
async function eleventyRun(program: string, folder: string): Promise<Run> {
  const pages = neutralCorpus();
  const parts = new Set([...pages.keys()].map((path) => dirname(path)));
  const files = new Map([
    ...pages,
    ...[...parts].map((part) => [`${part}/index.md`, `---\ntitle: ${part}\n---\n`] as const),
  ]);
  const written: [string, string][] = [
    ...[...files].map(([path, text]): [string, string] => [join('pages', path), text]),
    ['pages/guides/guides.11tydata.js', eleventyData],
    ['_includes/page.njk', eleventyLayout],
    ['eleventy.config.js', eleventyConfig],
    ['package.json', '{ "type": "commonjs" }'],
  ];
  for (const [path, text] of written) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const main = join(program, 'node_modules', '@11ty', 'eleventy', 'cmd.cjs');
  const [startedAt, before] = [performance.now(), cpuSecondsOf([process.pid])];
  await run(process.execPath, [main, '--quiet'], {
    cwd: folder,
    env: { ...process.env, NODE_PATH: join(program, 'node_modules') },
    maxBuffer: 1e8,
  });
  const [seconds, after] = [(performance.now() - startedAt) / 1_000, cpuSecondsOf([process.pid])];
  if (!existsSync(join(folder, 'site', 'guides', 'part-10', 'page-500', 'index.html'))) {
    throw new Error('Eleventy ended without an error, but has not written page 500.');
  }
  return { seconds, cpuSeconds: before === undefined || after === undefined ? undefined : after - before };
}
