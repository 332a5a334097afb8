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
  const leaders = await Promise.all((['orchestrator', 'projector', 'housekeeper'] as const).map(connected));
  const roles = bucketRows.find(({ name }) => name === 'leases')?.keysOf ?? {};
  const [orchestrator, projector, housekeeper] = leaders;
  const owners = [
    { bus: orchestrator, roles: roles.orchestrator },
    { bus: projector, roles: roles.projector },
    { bus: housekeeper, roles: roles.housekeeper },
  ];
  const held = await Promise.all(
    owners.flatMap(({ bus, roles: own = [] }) => own.map((role) => bus?.leases.acquire(role, 'stand-in', signal))),
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
    await Promise.all(held.map((lease) => lease?.release()));
    stop.abort();
    await Promise.all(waiting);
    await Promise.all([...leaders, indexer, renderer, bundler].map((bus) => bus.close()));
  };
}
