import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { generatedFiles } from '../../support/docs-projects.ts';
import { openBrowser } from '../../support/open-browser.ts';

/*
 * Measures `bindery dev` with a real browser: `npm run bench:dev -- 100 1600 25000 --saves 500`. For each size: time from the start of the command to
 * the first page in the browser, from a save to the changed page for a text and for docs.json, memory of all processes, and processor time of a
 * save. On a machine with other work, only the processor time means something.
 */

const program = fileURLToPath(new URL('../../../services/cli/bindery.mjs', import.meta.url));
const sizes = process.argv.slice(2).filter((text) => /^\d+$/.test(text) && text !== savesArgument());
const saves = Number(savesArgument() ?? 100);
const configSaves = 10;
const ticksPerSecond = 100;

function savesArgument(): string | undefined {
  const at = process.argv.indexOf('--saves');
  return at < 0 ? undefined : process.argv[at + 1];
}

const rows: Record<string, string | number>[] = [];
for (const size of sizes.length === 0 ? ['100', '1600', '25000'] : sizes) rows.push(await measure(Number(size)));
console.table(rows);

async function measure(pages: number): Promise<Record<string, string | number>> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-dev-'));
  const files = generatedFiles('bench', pages);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto('about:blank');
  const begunAt = performance.now();
  const server = spawn(process.execPath, [program, 'dev', folder, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let said = '';
      server.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const found = /http:\/\/localhost:\d+/.exec(said);
        if (found) resolve(found[0]);
      });
      server.once('exit', () => reject(new Error(`bindery dev ended: ${said}`)));
    });
    const first = 'guides/part-0/page-3';
    await page.goto(`${address}/${first}.html`, { waitUntil: 'load' });
    const firstMs = performance.now() - begunAt;
    const processorAtStart = processorMs(server.pid ?? 0);
    const text = files[`${first}.mdx`] ?? '';
    const save = (words: string): void => writeFileSync(join(folder, `${first}.mdx`), `${text}\n${words}\n`);
    const saveText = (at: number) =>
      timeOf(page, '.mdx-content', `Save number ${at}.`, () => save(`Save number ${at}.`));
    for (let at = 0; at < 5; at += 1) await saveText(at);
    const memoryBefore = memoryMb(server.pid ?? 0);
    const processorBefore = processorMs(server.pid ?? 0);
    const times: number[] = [];
    for (let at = 10; at < 10 + saves; at += 1) times.push(await saveText(at));
    const processorPerSave = (processorMs(server.pid ?? 0) - processorBefore) / saves;
    const memoryAfter = memoryMb(server.pid ?? 0);
    const config: number[] = [];
    const configBefore = processorMs(server.pid ?? 0);
    for (let at = 0; at < configSaves; at += 1)
      config.push(
        await timeOf(page, '.site-name', `Bench ${at}`, () =>
          writeFileSync(join(folder, 'docs.json'), (files['docs.json'] ?? '').replace('"bench"', `"Bench ${at}"`)),
        ),
      );
    return {
      pages,
      'first page ms': Math.round(firstMs),
      'first page cpu ms': Math.round(processorAtStart),
      'text p50 ms': percentile(times, 50),
      'text p95 ms': percentile(times, 95),
      'text cpu ms': processorPerSave.toFixed(1),
      'docs.json p95 ms': percentile(config, 95),
      'docs.json cpu ms': ((processorMs(server.pid ?? 0) - configBefore) / configSaves).toFixed(0),
      'memory MB': memoryBefore,
      [`after ${saves} saves`]: memoryAfter,
      'at the end': memoryMb(server.pid ?? 0),
    };
  } finally {
    server.kill('SIGTERM');
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Time from a save to the words in the page, in milliseconds. The clock of the browser is that of this process. */
async function timeOf(page: Page, selector: string, words: string, save: () => void): Promise<number> {
  const seen = page.evaluate(
    ([inside = '', wanted = '']) =>
      new Promise<number>((resolve) => {
        const browser = globalThis as unknown as {
          document: { querySelector(query: string): { textContent: string } | null; body: object };
          MutationObserver: new (
            callback: () => void,
          ) => { observe(node: object, how: object): void; disconnect(): void };
        };
        const observer = new browser.MutationObserver(() => {
          if (browser.document.querySelector(inside)?.textContent.includes(wanted) !== true) return;
          observer.disconnect();
          resolve(Date.now());
        });
        observer.observe(browser.document.body, { childList: true, subtree: true, characterData: true });
      }),
    [selector, words],
  );
  // The observer is there when the browser has answered a later question.
  await page.evaluate('1');
  const savedAt = Date.now();
  save();
  return (await seen) - savedAt;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? 0;
}

/** The process and all that it started. */
function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = statOf(Number(name))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
}

/** Fields of a process after its name; undefined if it has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Processor time of the process and all that it started, in milliseconds. */
function processorMs(root: number): number {
  const ticks = treeOf(root).map((pid) => {
    const fields = statOf(pid);
    return Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  });
  return ticks.reduce((sum, value) => sum + value, 0) * (1_000 / ticksPerSecond);
}

/** Memory of all processes; pages that they share count once. */
function memoryMb(root: number): number {
  const kilobytes = treeOf(root).map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return Math.round(kilobytes.reduce((sum, value) => sum + value, 0) / 1024);
}
