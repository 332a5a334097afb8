import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { bucketRows, type BusUser } from '#shared/messaging/subjects/subject-table.ts';

/**
 * Holds the leases of all leaders and waits for messages as all workers do, without working on any. `passwordOf` returns the password of a bus user.
 * Resolves to a function that ends this.
 */
export async function standInServices(
  url: string,
  passwordOf: (user: BusUser) => Promise<string>,
): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const { signal } = stop;
  const connected = async <User extends BusUser>(service: User) =>
    connectBus({ url, service, password: await passwordOf(service), instance: 'stand-in' });
  const [orchestrator, projector, housekeeper] = await Promise.all([
    connected('orchestrator'),
    connected('projector'),
    connected('housekeeper'),
  ]);
  const rolesOf = (user: BusUser) => bucketRows.find(({ name }) => name === 'leases')?.keysOf?.[user] ?? [];
  const held = await Promise.all(
    [
      ...rolesOf('orchestrator').map((role) => ({ role, leases: orchestrator.leases })),
      ...rolesOf('projector').map((role) => ({ role, leases: projector.leases })),
      ...rolesOf('housekeeper').map((role) => ({ role, leases: housekeeper.leases })),
    ].map(({ role, leases }) => leases.acquire(role, 'stand-in', signal)),
  );
  const [indexer, renderer, bundler] = await Promise.all([
    connected('indexer'),
    connected('page-renderer'),
    connected('bundler'),
  ]);
  const readers = await Promise.all([
    indexer.contentReader(),
    renderer.renderTasks(await rendererVersion()),
    bundler.bundleTasks(),
  ]);
  const waiting = readers.map(async (reader) => {
    while (!signal.aborted) await reader.next({ signal });
  });
  return async () => {
    await Promise.all(held.map((lease) => lease.release()));
    stop.abort();
    await Promise.all(waiting);
    await Promise.all([orchestrator, projector, housekeeper, indexer, renderer, bundler].map((bus) => bus.close()));
  };
}
