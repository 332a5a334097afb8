import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { generatedFiles } from '../../support/docs-projects.ts';
import { openBrowser } from '../../support/open-browser.ts';
import { measureBesideOthers } from './beside-others.ts';
import { percentile } from './percentile.ts';
import { memoryMb, processorMs } from './process-tree.ts';

/*
 * Measures `bindery dev` with a real browser: `npm run bench:dev -- 100 1600 25000 --saves 500`. For each size: time from the start of the command to
 * the first page in the browser, from a save to the changed page for a text and for docs.json, memory of all processes, and processor time of a
 * save. On a machine with other work, only the processor time means something.
 *
 * Without sizes, or with `--beside 1000`, the dev servers of Starlight and VitePress follow with the same pages: see `beside-others.ts`.
 */

const program = fileURLToPath(new URL('../../../services/cli/bindery.mjs', import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { saves: { type: 'string', default: '100' }, beside: { type: 'string' } },
});
const isWhole = positionals.length === 0 && values.beside === undefined;
const sizes = isWhole ? ['100', '1600', '25000'] : positionals;
const saves = Number(values.saves);
const beside = values.beside ?? (isWhole ? '1000' : undefined);
const configSaves = 10;

const rows: Record<string, string | number>[] = [];
for (const size of sizes) rows.push(await measure(Number(size)));
if (rows.length > 0) console.table(rows);
if (beside !== undefined) console.table(await measureBesideOthers(Number(beside), Math.min(saves, 50)));

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
