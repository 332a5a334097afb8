import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { devFiles, type DevFiles } from '#services/cli/dev/dev-files.ts';
import { liveSite } from '#services/cli/dev/live-site.ts';
import { openDev } from '#services/cli/dev/open-dev.ts';
import { generatedFiles } from '../support/docs-projects.ts';
import { newFolder } from '../support/new-folder.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const pages = 60;
const shown = 'guides/part-0/page-3';
const files = generatedFiles('saves', pages);
const megabyte = 1_000_000;

function writeProject(): { folder: string; write: (path: string, text: string) => void } {
  const folder = newFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { folder, write };
}

/** Writes the save of this number: mostly a text, sometimes the settings, and a page that comes and goes. Returns the names of the files. */
function save(at: number, { folder, write }: ReturnType<typeof writeProject>): string[] {
  if (at % 25 === 0) {
    write('docs.json', (files['docs.json'] ?? '').replace('"saves"', `"Saves ${at}"`));
    return ['docs.json'];
  }
  if (at % 25 === 10) write('new.mdx', `---\ntitle: New ${at}\n---\n\nWords ${at}.\n`);
  else if (at % 25 === 20) rmSync(join(folder, 'new.mdx'));
  else {
    write(`${shown}.mdx`, `${files[`${shown}.mdx`]}\nSave ${at}.\n`);
    return [`${shown}.mdx`];
  }
  return ['new.mdx'];
}

/** Heap in bytes after garbage collection. A second collection frees what finalizers of the first one held. */
async function heapNow(): Promise<number> {
  collect();
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return process.memoryUsage().heapUsed;
}

test('the model of a site keeps nothing of 450 saves', { timeout: 300_000 }, async () => {
  const project = writeProject();
  const found = await devFiles(project.folder);
  const site = liveSite();
  const reader = (list: DevFiles['files']) => ({
    files: list,
    read: (path: string, maxBytes: number) => found.read(path, maxBytes),
  });
  await site.answer({ kind: 'load', files: found.files, read: found.takeRead() }, reader);
  let early = 0;
  for (let at = 1; at <= 500; at += 1) {
    const { changed, gone } = await found.look(save(at, project));
    await site.answer({ kind: 'change', files: changed, gone: gone.map(({ path }) => path) }, reader);
    await site.answer({ kind: 'pages', paths: [shown] }, reader);
    await site.answer({ kind: 'site-files' }, reader);
    if (at === 50) early = await heapNow();
  }
  expect(((await heapNow()) - early) / megabyte).toBeLessThan(3);
});

/** Counts of what a process may leave open. */
function openNow() {
  const resources = Object.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  const kinds = Object.entries(resources).map(([kind, all = []]) => [kind, all.length] as const);
  return {
    ...Object.fromEntries(kinds),
    descriptors: readdirSync('/proc/self/fd').length,
    children: childrenOf(process.pid),
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

function childrenOf(parent: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, 'utf8');
        return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      } catch {
        return false;
      }
    }).length;
}

test('500 saves with an open page leave no memory, handles, processes or listeners behind', {
  timeout: 600_000,
}, async () => {
  const project = writeProject();
  const dev = await openDev(project.folder, {
    port: 0,
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(() => dev.close());
  const target = `/${shown}.html`;
  expect((await fetch(dev.server.url + target)).status).toBe(200);
  const events = await fetch(`${dev.server.url}/_bindery/dev/events?page=${shown}&target=${target}`);
  let told = 0;
  const reading = (async () => {
    for await (const piece of events.body ?? [])
      told += Buffer.from(piece).toString().split('"kind":"page"').length - 1;
  })().catch(() => undefined);
  let early: { heap: number; open: Record<string, number> } | undefined;
  for (let at = 1; at <= 500; at += 1) {
    await dev.site.change(save(at, project));
    if (at === 50) early = { heap: await heapNow(), open: openNow() };
  }
  const [heap, open] = [await heapNow(), openNow()];
  expect(told).toBeGreaterThan(400);
  expect((heap - (early?.heap ?? 0)) / megabyte).toBeLessThan(15);
  // A spare process and the reads in flight of the moment may come and go.
  for (const [kind, count] of Object.entries(open))
    expect(count - (early?.open[kind] ?? 0), kind).toBeLessThanOrEqual(8);
  await dev.close();
  await reading;
});
