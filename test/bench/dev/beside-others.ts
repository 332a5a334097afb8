import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { generatedFiles } from '../../support/docs-projects.ts';
import { openBrowser } from '../../support/open-browser.ts';
import { percentile } from './percentile.ts';
import { memoryMb, processorMs } from './process-tree.ts';

/*
 * The dev servers of Bindery, Starlight and VitePress with the same pages, one after the other in one run. npm installs the other two into a temporary
 * folder; where it cannot, the row says why. Each is started twice, because each keeps what the first start has computed. A page is shown when its
 * words are in the document of a real browser, however they got there: by a change in place or by a reload.
 */

type DevServer = {
  name: string;
  /** Packages to install, with their versions. */
  packages: readonly string[];
  /** Arguments of Node that serve the folder at a port of 127.0.0.1. */
  command: (folder: string, port: number) => readonly string[];
  files: (pages: Record<string, string>) => Record<string, string>;
  /** Path of the file and of the address of a page such as `guides/part-0/page-3`. */
  fileOf: (page: string) => string;
  addressOf: (page: string) => string;
};

const program = fileURLToPath(new URL('../../../services/cli/bindery.mjs', import.meta.url));

/** The page as Markdown with the notes of another product. */
const withNotes = (text: string, mark: string): string =>
  text.replaceAll(/<Note>(.*?)<\/Note>/g, `::: ${mark}\n$1\n:::`);

/** The end of a configuration file. */
const asDefault = (value: string): string => `export default ${value};\n`;

const servers: readonly DevServer[] = [
  {
    name: 'Bindery',
    packages: [],
    command: (folder, port) => [program, 'dev', folder, '--port', String(port)],
    files: (pages) => ({
      'docs.json': generatedFiles('bench', Object.keys(pages).length)['docs.json'] ?? '',
      ...renamed(pages, (page) => `${page}.mdx`),
    }),
    fileOf: (page) => `${page}.mdx`,
    addressOf: (page) => `/${page}.html`,
  },
  {
    name: 'Starlight',
    packages: ['astro@7.3.5', '@astrojs/starlight@0.42.4'],
    command: (folder, port) => [
      join(folder, 'node_modules/astro/bin/astro.mjs'),
      ...['dev', '--root', folder, '--host', '127.0.0.1', '--port', String(port)],
    ],
    files: (pages) => ({
      'astro.config.mjs': `import starlight from '@astrojs/starlight';
const sidebar = [{ label: 'Guides', items: [{ autogenerate: { directory: 'guides' } }] }];
${asDefault(`{ integrations: [starlight({ title: 'bench', sidebar })] }`)}`,
      'src/content.config.ts': `import { defineCollection } from 'astro:content';
import { docsLoader } from '@astrojs/starlight/loaders';
import { docsSchema } from '@astrojs/starlight/schema';
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`,
      ...renamed(
        pages,
        (page) => `src/content/docs/${page}.md`,
        (text) => withNotes(text, 'note').replaceAll('::: n', ':::n'),
      ),
    }),
    fileOf: (page) => `src/content/docs/${page}.md`,
    addressOf: (page) => `/${page}/`,
  },
  {
    name: 'VitePress',
    packages: ['vitepress@1.6.4'],
    command: (folder, port) => [
      join(folder, 'node_modules/vitepress/bin/vitepress.js'),
      ...['dev', folder, '--host', '127.0.0.1', '--port', String(port), '--strictPort'],
    ],
    files: (pages) => {
      const items = Object.keys(pages).map((page) => ({ text: page, link: `/${page}` }));
      const config = { title: 'bench', themeConfig: { sidebar: [{ text: 'Guides', items }] } };
      return {
        '.vitepress/config.mjs': asDefault(JSON.stringify(config)),
        ...renamed(
          pages,
          (page) => `${page}.md`,
          (text) => withNotes(text, 'info'),
        ),
      };
    },
    fileOf: (page) => `${page}.md`,
    addressOf: (page) => `/${page}.html`,
  },
];

const renamed = (
  pages: Record<string, string>,
  name: (page: string) => string,
  written = (text: string): string => text,
): Record<string, string> =>
  Object.fromEntries(Object.entries(pages).map(([page, text]) => [name(page), written(text)]));

const firstPage = 'guides/part-0/page-3';
/** Limit for a page to be shown. A busy machine is slow. */
const shownWithinMs = 300_000;

/** A row for each server: times of a project with this number of pages. */
export async function measureBesideOthers(pages: number, saves: number): Promise<Record<string, string | number>[]> {
  const rows: Record<string, string | number>[] = [];
  for (const server of servers) {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-beside-'));
    try {
      rows.push({ server: nameOf(server), pages, ...(await measure(server, folder, pages, saves)) });
    } catch (error) {
      console.error(`${nameOf(server)} was not measured: ${firstLine(error)}`);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  return rows;
}

const nameOf = ({ name, packages }: DevServer): string => [name, ...packages.slice(-1)].join(', ');

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 2).join(' ').slice(0, 200);

async function measure(server: DevServer, folder: string, pages: number, saves: number) {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  if (server.packages.length > 0)
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...server.packages], {
      cwd: folder,
    });
  const texts = Object.entries(generatedFiles('bench', pages)).filter(([path]) => path.endsWith('.mdx'));
  const sources = Object.fromEntries(texts.map(([path, text]) => [path.replace(/\.mdx$/, ''), text]));
  const files = server.files(sources);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const first = await withServer(server, folder, () => Promise.resolve({}));
  const file = server.fileOf(firstPage);
  const again = await withServer(server, folder, async (waitFor, usedMs, memory) => {
    const save = async (words: string): Promise<number> => {
      const savedAt = performance.now();
      writeFileSync(join(folder, file), `${files[file]}\n${words}\n`);
      await waitFor(words);
      return performance.now() - savedAt;
    };
    for (let at = 0; at < 3; at += 1) await save(`Save number ${at}.`);
    const before = usedMs();
    const times: number[] = [];
    for (let at = 10; at < 10 + saves; at += 1) times.push(await save(`Save number ${at}.`));
    return {
      'save p50 ms': Math.round(percentile(times, 50)),
      'save p95 ms': Math.round(percentile(times, 95)),
      'save cpu ms': Math.round((usedMs() - before) / saves),
      'memory MB': memory(),
    };
  });
  return {
    'first start ms': first['first page ms'] ?? 0,
    'first start cpu ms': first['first page cpu ms'] ?? 0,
    ...again,
  };
}

/** Starts the server, waits for the first page in a browser, and measures what `then` measures. */
async function withServer(
  server: DevServer,
  folder: string,
  then: (
    waitFor: (words: string) => Promise<unknown>,
    usedMs: () => number,
    memory: () => number,
  ) => Promise<Record<string, number>>,
): Promise<Record<string, number>> {
  const [port = 0] = await freePorts(1);
  const browser = await openBrowser();
  // The browser looks for words by a script of its own, which the policy of Bindery's pages would refuse.
  const page = await browser.newPage({ bypassCSP: true });
  const begunAt = performance.now();
  const child = spawn(process.execPath, server.command(folder, port), {
    cwd: folder,
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)));
  const ended = once(child, 'close');
  const pid = child.pid ?? 0;
  try {
    const waitFor = (words: string): Promise<unknown> =>
      page.waitForFunction(
        `document.querySelector('main')?.textContent.includes(${JSON.stringify(words)})`,
        undefined,
        {
          timeout: shownWithinMs,
        },
      );
    const address = `http://127.0.0.1:${port}${server.addressOf(firstPage)}`;
    const shown = async (): Promise<void> => {
      while (
        !(await page.goto(address, { waitUntil: 'commit' }).then(
          (answer) => answer?.ok() === true,
          () => false,
        ))
      )
        await new Promise((resolve) => setTimeout(resolve, 20));
      await waitFor('Page 3 has a note of its own.');
    };
    const failed = ended.then(() => {
      throw new Error(`${server.name} ended: ${errors.trim()}`);
    });
    const deadline = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`${server.name} showed no page: ${errors.trim()}`)), shownWithinMs).unref();
    });
    await Promise.race([shown(), failed, deadline]);
    const first = {
      'first page ms': Math.round(performance.now() - begunAt),
      'first page cpu ms': Math.round(processorMs(pid)),
    };
    const more = await Promise.race([
      then(
        waitFor,
        () => processorMs(pid),
        () => memoryMb(pid),
      ),
      failed,
    ]);
    return { ...first, ...more };
  } finally {
    await browser.close();
    child.kill('SIGTERM');
    await ended;
  }
}
