import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { serviceNames } from '#infra/supervisor/service-names.ts';

/** A process that may die: a service, the bus, a child in which pages are rendered, or the shell that guards such a child. */
export type Victim = { name: string; pid: number };

export const rendererChild = 'renderer-child';
export const childGuard = 'child-guard';

/** Every process of an installation that runs now; one that was just killed is missing until it is started again. */
export async function victimsOf(installation: Installation): Promise<Victim[]> {
  const own = [...serviceNames, 'nats-server' as const].flatMap((name) =>
    installation.pids(name).map((pid) => ({ name: name as string, pid })),
  );
  return [...own, ...(await renderingProcesses(installation))];
}

/** What runs under the renderers: children that parse tenants' bytes, each behind a shell that kills it when its renderer is gone. */
export async function renderingProcesses(installation: Installation): Promise<Victim[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const processes = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (parents: readonly number[]): number[] =>
    processes.flatMap(([pid = 0, parent = 0]) => (parents.includes(parent) ? [pid] : []));
  const guards = childrenOf(installation.pids('page-renderer'));
  const named = (name: string) => (pid: number) => ({ name, pid });
  return [...guards.map(named(childGuard)), ...childrenOf(guards).map(named(rendererChild))];
}
