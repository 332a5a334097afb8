import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serviceNames } from '#infra/supervisor/services.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import { generatedFiles } from '../../support/docs-projects.ts';
import { addOrganization, exportHistory, forgetSegments } from '../../support/installation-exports.ts';
import { runCommand, type TestInstallation } from '../../support/start-installation.ts';
import { exportToLink, jobStory, startExportInstallation } from './export-installation.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table, temporaryFolder } from './measurement.ts';
import { residentBytesBelow } from './process-usage.ts';

/** The page of a generated project that changes. */
export const changedPageOf = (pages: number): string =>
  pages > 500 ? 'guides/part-10/page-500.mdx' : 'guides/part-0/page-5.mdx';

type Name = 'publication, one page changed' | 'export, cold' | 'export, one page changed' | 'export, nothing changed';
type Run = { seconds: number; phases?: ReturnType<typeof jobStory>['phases'] };
type Size = {
  pages: number;
  runs: Record<Name, Run[]>;
  /** Seconds of exports of ten pages of another organization: alone, and beside each step of the measured organization. */
  beside: Record<'alone' | 'the first publication' | 'a changed page', number[]>;
  bundleBytes: number;
  memory: (number | undefined)[][];
  /** Memory of services that share processes, in bytes. */
  sharedMemory: number | undefined;
};

/** The cost of one changed page as the site grows: from the start of `bindery publish` to its end, and from the request of an export to its link. */
export const change: Measurement = {
  name: 'change',
  about:
    'publication and export of one changed page, of none, and cold, by the size of the site (--sizes 1000,5000,25000)',
  async run(bench) {
    const sizes: Size[] = [];
    for (const pages of bench.sizes) sizes.push(await measured(bench, pages));
    bench.print(`Cost of a change: generated projects, one renderer; medians of ${bench.runs}\n`);
    const [smallest] = sizes;
    const secondsOf = (size: Size | undefined, name: Name) =>
      medianOf((size?.runs[name] ?? []).map(({ seconds }) => seconds));
    const phaseOf = (size: Size, name: Name, phase: keyof NonNullable<Run['phases']>) =>
      shown(medianOf(size.runs[name].map(({ phases }) => phases?.[phase])));
    const rows = sizes.flatMap((size) =>
      (Object.keys(size.runs) as Name[]).map((name) => [
        `${shown(size.pages)} pages: ${name}`,
        shown(secondsOf(size, name)),
        ratio(secondsOf(size, name), secondsOf(size, 'export, cold')),
        ratio(secondsOf(size, name), secondsOf(smallest, name)),
        ...(['planning', 'rendering', 'closing', 'joining'] as const).map((phase) =>
          name.startsWith('export') ? phaseOf(size, name, phase) : '',
        ),
      ]),
    );
    bench.print(
      table(['', 'seconds', 'to cold', 'to the smallest', 'planning', 'rendering', 'closing', 'joining'], rows),
    );
    bench.print('');
    bench.print(
      table(
        ['export of 10 pages beside it, seconds', 'exports', 'median', 'longest'],
        sizes.flatMap(({ pages, beside }) =>
          Object.entries(beside).map(([name, seconds]) => [
            `${shown(pages)} pages: ${name}`,
            shown(seconds.length),
            shown(medianOf(seconds)),
            shown(Math.max(...seconds)),
          ]),
        ),
      ),
    );
    bench.print('');
    bench.print(
      table(
        [
          'memory in MB (Pss), at the end of a run',
          'all services',
          'indexer',
          'all in the processes of npm start',
          'bundle',
        ],
        sizes.map(({ pages, memory, sharedMemory, bundleBytes }) => [
          `${shown(pages)} pages`,
          ...[0, 1].map((at) => shown(inMb(medianOf(memory.map((each) => each[at]))))),
          shown(inMb(sharedMemory)),
          shown(inMb(bundleBytes)),
        ]),
      ),
    );
  },
};

const inMb = (bytes: number | undefined): number | undefined => (bytes === undefined ? undefined : bytes / 1e6);

const measured = (bench: Bench, pages: number): Promise<Size> =>
  bench.using(temporaryFolder(), async ({ path: folder }) => {
    const size = await bench.using(startExportInstallation({ copies: {} }), async (harness) => {
      const size: Size = {
        pages,
        runs: {
          'publication, one page changed': [],
          'export, cold': [],
          'export, one page changed': [],
          'export, nothing changed': [],
        },
        beside: { alone: [], 'the first publication': [], 'a changed page': [] },
        bundleBytes: 0,
        memory: [],
        sharedMemory: undefined,
      };
      const changePage = await writeProject(folder, pages);
      const small = await addOrganization(harness, 'Small', smallPages);
      let exported = 0;
      const exportSmall = async () =>
        (await exportToLink(small.admin, small.domain, { paths: tenPages((exported += 1)) })).seconds;
      await exportSmall();
      for (let run = 0; run < exportsAlone; run += 1) size.beside.alone.push(await exportSmall());
      bench.progress(`${pages} pages: the first publication and export, which also load and compile`);
      size.beside['the first publication'] = await during(published(harness, folder), exportSmall);
      await timedExport(harness);
      for (let run = 0; run < bench.runs; run += 1) {
        bench.progress(`${pages} pages, run ${run + 1}`);
        await forgetSegments(harness);
        size.runs['export, cold'].push(await timedExport(harness));
        await changePage(run);
        size.runs['publication, one page changed'].push(await published(harness, folder));
        const changed = await timedExport(harness);
        size.runs['export, one page changed'].push(changed);
        size.runs['export, nothing changed'].push(await timedExport(harness));
        size.bundleBytes = changed.bundleBytes;
        size.memory.push([memoryOf(harness, serviceNames), memoryOf(harness, ['indexer'])]);
      }
      for (let run = 0; run < bench.runs; run += 1) {
        await changePage(bench.runs + run);
        const publishedAndExported = published(harness, folder).then(() => timedExport(harness));
        size.beside['a changed page'].push(...(await during(publishedAndExported, exportSmall)));
      }
      return size;
    });
    bench.progress(`${pages} pages: memory of services that share processes`);
    const sharedMemory = await bench.using(
      startExportInstallation({ copies: {}, processes: 'shared' }),
      async (harness) => {
        await published(harness, folder);
        await timedExport(harness);
        return memoryOf(harness, serviceNames);
      },
    );
    return { ...size, sharedMemory };
  });

const exportsAlone = 5;
const smallPages = 50;

/** Ten pages of the small site, which are rendered, because they were not exported together before. */
function tenPages(round: number): string[] {
  const first = round % 40;
  const last = 40 + (Math.floor(round / 40) % 10);
  const numbers = [...Array.from({ length: 9 }, (_, at) => first + at), Math.max(last, first + 9)];
  return numbers.map((number) => `guides/part-0/page-${number}`);
}

/** The outcomes of `work`, which is repeated until `other` has ended. */
async function during<T>(other: Promise<unknown>, work: () => Promise<T>): Promise<T[]> {
  const over = new AbortController();
  const ended = other.finally(() => over.abort());
  ended.catch(() => undefined); // The rejection is thrown when this awaits it at the end.
  const outcomes: T[] = [];
  while (!over.signal.aborted) outcomes.push(await work());
  await ended;
  return outcomes;
}

/** The sentence that a round of changes adds to a page. */
export const sentenceOf = (round: number): string => `A sentence that was added in round ${round}.`;

/** Writes a generated project whose pages have the size of real ones. Returns a function that changes one of its pages, or all. */
export async function writeProject(
  folder: string,
  pages: number,
): Promise<(round: number, which?: 'all') => Promise<void>> {
  const files = generatedFiles('Change', pages);
  let at = 0;
  for (const [path, text] of Object.entries(files)) {
    if (path.endsWith('.mdx')) files[path] = `${text}\n${prose((at += 1))}`;
    await write(folder, path, files[path] ?? text);
  }
  return async (round, which) => {
    const changed =
      which === 'all' ? Object.keys(files).filter((path) => path.endsWith('.mdx')) : [changedPageOf(pages)];
    for (const path of changed) {
      await write(folder, path, `${files[path]}\n${sentenceOf(round)}\n`);
    }
  };
}

const wordsOfPage = 1_800;
const wordsOfParagraph = 60;
const vocabulary = Array.from({ length: 4_000 }, (_, at) => `${at.toString(27)}ing`);

/** Paragraphs of varied words, so that a page has the size of a real one, 13 kB, and compresses like one. A page has the same text in every run. */
function prose(seed: number): string {
  let state = seed;
  const word = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return vocabulary[(state >> 8) % vocabulary.length] ?? '';
  };
  const paragraph = () => `${Array.from({ length: wordsOfParagraph }, word).join(' ')}.\n\n`;
  return Array.from({ length: wordsOfPage / wordsOfParagraph }, paragraph).join('');
}

async function write(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

/** Runs `bindery publish` as an author does. Indexing is awaited afterwards, so that it does not slow down the next measurement. */
export async function published(harness: TestInstallation, folder: string): Promise<Run> {
  const { domain, admin, adminKey, installation } = harness;
  const startedAt = performance.now();
  const outcome = await runCommand(['publish', folder, '--domain', domain, '--no-remote', '--json'], {
    BINDERY_URL: installation.baseUrl,
    BINDERY_KEY: adminKey,
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  if (outcome.code !== 0) throw new Error(`The project cannot be published: ${outcome.stderr}`);
  await whenSearched(admin, domain, (JSON.parse(outcome.stdout) as PublishedContent).contentVersion);
  return { seconds };
}

export async function timedExport(harness: TestInstallation): Promise<Run & { bundleBytes: number }> {
  const { job, link, seconds } = await exportToLink(harness.admin, harness.domain);
  const { phases } = jobStory((await exportHistory(harness, job.jobId)).commits);
  return { seconds, phases, bundleBytes: link.sizeBytes };
}

function memoryOf({ installation }: TestInstallation, services: readonly (typeof serviceNames)[number][]) {
  return residentBytesBelow(services.flatMap((name) => installation.pids(name)));
}
