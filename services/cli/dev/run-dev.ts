import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { counted, formatNumber, printable } from '#shared/runtime/figures.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFilesIn } from '../folder-project.ts';
import { diagnosticCounts, diagnosticLine } from '../format.ts';
import { noDescriptions, type RemoteDescriptions, remoteDescriptions } from '../remote-descriptions.ts';
import { paintFor } from '../terminal.ts';
import type { ChangeDone } from './dev-site.ts';
import { openDev } from './open-dev.ts';

export type DevOptions = {
  port: number;
  host?: string;
  open: boolean;
  poll?: number | true;
  assistant: boolean;
  remote: boolean;
  privateAddresses: boolean;
};

const usualPollMs = 1_000;

/**
 * Runs `bindery dev` until Ctrl-C. Prints the address of the site, then a line for each change: its files, the number of pages that it affects, and
 * the time until open pages were told. Throws as `projectFilesIn`, and if no port is free.
 */
export async function runDev(folder: string, options: DevOptions): Promise<void> {
  const { port, host, open, poll } = options;
  const begunAt = performance.now();
  const paint = paintFor(process.stdout, process.env);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const remote = options.remote ? await fetched(folder, options.privateAddresses) : noDescriptions;
  for (const diagnostic of remote.diagnostics) print(diagnosticLine(diagnostic, paint));
  // The assistant has the code of a service, which a preview without it need not load.
  const { localAssistant } = options.assistant ? await import('./local-assistant.ts') : { localAssistant: undefined };
  const dev = await openDev(folder, {
    ...{ port, host, extra: remote.files, assistant: localAssistant?.(folder, print) },
    ...(poll !== undefined && { pollMs: poll === true ? usualPollMs : poll }),
    onError: (error) => print(`${paint('red', 'error')} ${printable(messageOf(error))}`),
    onLost: (reason) => print(`There are no events for ${folder} (${reason}), so all files are checked every second.`),
    onChange(done) {
      print(changeLine(done));
      for (const problem of done.problems.filter(isError)) print(`  ${diagnosticLine(problem, paint)}`);
    },
  });
  const { site, server } = dev;
  print(`${paint('bold', server.url)}  ${counted(site.pageCount(), 'page')}, ${seconds(performance.now() - begunAt)}`);
  for (const problem of site.problems().filter(isError)) print(diagnosticLine(problem, paint));
  if (open) openInBrowser(server.url);
  const stop = new AbortController();
  await Promise.race([
    once(process, 'SIGINT', { signal: stop.signal }),
    once(process, 'SIGTERM', { signal: stop.signal }),
  ]);
  stop.abort();
  await dev.close();
}

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

/** `guides/x.mdx  1 page  34 ms  2 warnings`. Pure. */
export function changeLine({ names, affected, ms, problems }: ChangeDone): string {
  const [first = '', ...others] = names;
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other file')}`;
  return `${printable(first)}${more}  ${counted(affected, 'page')}  ${formatNumber(Math.round(ms))} ms${
    problems.length === 0 ? '' : `  ${diagnosticCounts(problems)}`
  }`;
}

/** The API descriptions that the project names by address. */
async function fetched(folder: string, allowPrivate: boolean): Promise<RemoteDescriptions> {
  const files = (await projectFilesIn(folder)).map((path) => ({ path }));
  const read = async (path: string, maxBytes: number): Promise<Uint8Array> =>
    (await readFile(join(folder, path))).subarray(0, maxBytes);
  return remoteDescriptions({ files, read }, { allowPrivate });
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Opens an address with the program of the system. Without one, such as on a server, nothing happens. */
function openInBrowser(address: string): void {
  const [program = '', ...args] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', address]
        : ['xdg-open', address];
  spawn(program, args, { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
