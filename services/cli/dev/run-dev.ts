import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { counted, formatNumber, printable } from '#shared/runtime/figures.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { diagnosticCounts, diagnosticLine } from '../format.ts';
import type { RemoteFlags } from '../command-options.ts';
import { lockedFiles } from '../remote/remote-parts.ts';
import { paintFor } from '../terminal.ts';
import type { ChangeDone } from './dev-site.ts';
import { type DevRemote, devRemote } from './dev-remote.ts';
import { openDev } from './open-dev.ts';

export type DevOptions = RemoteFlags & {
  port: number;
  host?: string;
  open: boolean;
  poll?: number | true;
  assistant: boolean;
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
  const onError = (error: unknown): void => print(`${paint('red', 'error')} ${printable(messageOf(error))}`);
  const onChange = (done: ChangeDone): void => {
    print(changeLine(done));
    for (const problem of done.problems.filter(isError)) print(`  ${diagnosticLine(problem, paint)}`);
  };
  // The assistant has the code of a service, which a preview without it need not load.
  const { localAssistant } = options.assistant ? await import('./local-assistant.ts') : { localAssistant: undefined };
  let remote: DevRemote | undefined;
  const dev = await openDev(folder, {
    // The first page has the files of the lock that are in the cache; the others follow.
    ...{ port, host, extra: await lockedFiles(folder), assistant: localAssistant?.(folder, print) },
    ...(poll !== undefined && { pollMs: poll === true ? usualPollMs : poll }),
    onError,
    onLost: (reason) => print(`There are no events for ${folder} (${reason}), so all files are checked every second.`),
    onChange(done) {
      onChange(done);
      void remote?.changed(done.names);
    },
  });
  const { site, server } = dev;
  const told = new Set<string>();
  remote = devRemote(folder, options, {
    onError,
    async onParts(parts) {
      const done = await site.bring(parts);
      if (done !== undefined) onChange(done);
      const lines = parts.diagnostics.map((diagnostic) => diagnosticLine(diagnostic, paint));
      for (const line of lines.filter((one) => !told.has(one))) print(line);
      for (const line of lines) told.add(line);
    },
  });
  print(`${paint('bold', server.url)}  ${counted(site.pageCount(), 'page')}, ${seconds(performance.now() - begunAt)}`);
  for (const problem of site.problems().filter(isError)) print(diagnosticLine(problem, paint));
  if (open) openInBrowser(server.url);
  void remote.begin();
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
