import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { serviceNames } from '#infra/supervisor/service-names.ts';

/** A process that may die: a service, the bus, or a child in which pages are rendered. */
export type Victim = { name: string; pid: number };

export const rendererChild = 'renderer child';

/** Every process of an installation that runs now; one that was just killed is missing until it is started again. */
export async function victimsOf(installation: Installation): Promise<Victim[]> {
  const own = [...serviceNames, 'nats-server' as const].flatMap((name) =>
    installation.pids(name).map((pid) => ({ name: name as string, pid })),
  );
  const children = await childrenOf(installation.pids('page-renderer'));
  return [...own, ...children.map((pid) => ({ name: rendererChild, pid }))];
}

/** By kind first, so that a pool of many children is no likelier to be hit than the one projector. */
export function byName(victims: readonly Victim[]): Map<string, Victim[]> {
  return Map.groupBy(victims, ({ name }) => name);
}

async function childrenOf(parents: readonly number[]): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    return parents.includes(parent) ? [pid] : [];
  });
}
