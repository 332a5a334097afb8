import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { hostApp, oneSite } from '#services/docs-host/host-app.ts';
import { servedVersions } from '#services/docs-host/served-versions.ts';
import { openSiteFolder } from '#services/docs-host/site-folder.ts';
import { versionLists } from '#services/docs-host/version-lists.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { visitHost } from './ask-host.ts';
import { exampleBundle } from './example-bundle.ts';

/** Loads a page of an example bundle with all its files, as a browser does. Returns the problems. */
export const visit = (url: string): Promise<string[]> => visitHost(url, new URL(url).host);

const maxBytes = 100_000_000;

export type SwapsUnderLoad = {
  /** Problems that readers saw. */
  problems: string[];
  /** Number of pages that were loaded with their files. */
  visits: number;
  /** Content version that is served at the end. */
  lastVersion: string | undefined;
};

/** Changes the version of a site in `folder` this number of times while two readers load pages. */
export async function swapUnderLoad(folder: string, swaps: number): Promise<SwapsUnderLoad> {
  const logger = createLogger('docs-host', 'test').child({}, { level: 'silent' });
  const lists = versionLists();
  const stored = await openSiteFolder(folder, { making: () => ({ base: '' }), lists, logger });
  const versions = servedVersions(stored);
  const add = async (name: string) => {
    const file = join(folder, 'next.tar.gz');
    await writeFile(file, await exampleBundle(name));
    await versions.swap(await stored.add({ key: name }, { place: { kind: 'archive', file }, maxBytes }));
  };
  const app = hostApp(loadConfig(docsHostSettings, { BINDERY_BUNDLE_PATH: '/none' }), oneSite(versions, lists), logger);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const over = new AbortController();
  const problems: string[] = [];
  let visits = 0;
  const reader = async () => {
    while (!over.signal.aborted) {
      problems.push(...(await visit(url)));
      visits += 1;
    }
  };
  try {
    await add('v0-');
    const readers = [reader(), reader()];
    for (let at = 1; at <= swaps; at += 1) await add(`v${at}-`);
    over.abort();
    await Promise.all(readers);
    const active = versions.active();
    const last = active && (await lists.of(active)).manifest.contentVersion;
    return { problems, visits, lastVersion: last };
  } finally {
    over.abort();
    await app.close();
  }
}

export type SlowClients = {
  /** Number of connections that are currently open. */
  open(): number;
  /** Number of connections that got an answer. */
  answered(): number;
  end(): void;
};

/**
 * Opens connections that send the headers of a request and never end them. With `afterAnswer`, each first sends one whole request and waits for its
 * answer.
 */
export async function openSlowClients(port: number, count: number, afterAnswer: boolean): Promise<SlowClients> {
  const whole = afterAnswer ? 'GET /_bindery/site.js HTTP/1.1\r\nHost: x\r\n\r\n' : '';
  const slow = 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ';
  const sockets: Socket[] = [];
  let open = 0;
  let answered = 0;
  for (let at = 0; at < count; at += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.once('connect', () => {
      open += 1;
      socket.write(whole === '' ? slow : whole);
    });
    socket.once('data', () => {
      answered += 1;
      socket.write(slow);
    });
    socket.once('close', () => (open -= 1));
    sockets.push(socket);
    if (at % 100 === 99) await Promise.race([once(socket, afterAnswer ? 'data' : 'connect'), once(socket, 'close')]);
  }
  return {
    open: () => open,
    answered: () => answered,
    end: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
