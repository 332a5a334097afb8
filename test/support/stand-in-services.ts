import { once } from 'node:events';
import pino from 'pino';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { leadByTurns } from '#shared/messaging/leases.ts';
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
  const [orchestrator, projector, housekeeper, deployer] = await Promise.all([
    connected('orchestrator'),
    connected('projector'),
    connected('housekeeper'),
    connected('deployer'),
  ]);
  const rolesOf = (user: BusUser) => bucketRows.find(({ name }) => name === 'leases')?.keysOf?.[user] ?? [];
  const logger = pino({ level: 'silent' });
  const leading = await Promise.all(
    [
      ...rolesOf('orchestrator').map((role) => ({ role, leases: orchestrator.leases })),
      ...rolesOf('projector').map((role) => ({ role, leases: projector.leases })),
      ...rolesOf('housekeeper').map((role) => ({ role, leases: housekeeper.leases })),
      ...rolesOf('deployer').map((role) => ({ role, leases: deployer.leases })),
    ].map(async (held) => {
      const { promise: leads, resolve } = Promise.withResolvers<void>();
      // A lease that is lost on a busy machine is taken again, as the services do.
      const ended = leadByTurns(
        { ...held, holder: 'stand-in', logger },
        async (lost) => {
          resolve();
          if (!lost.aborted) await once(lost, 'abort');
        },
        signal,
      );
      await leads;
      return { ended };
    }),
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
    stop.abort();
    await Promise.all([...waiting, ...leading.map(({ ended }) => ended)]);
    await Promise.all(
      [orchestrator, projector, housekeeper, deployer, indexer, renderer, bundler].map((bus) => bus.close()),
    );
  };
}
