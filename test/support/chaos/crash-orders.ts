import { existsSync, globSync, readFileSync, watch } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ServiceName, serviceNames } from '#infra/supervisor/services.ts';
import { type CrashOrder, orderFile, takenFile } from '#shared/runtime/crash-point.ts';

type GivenOrder = {
  /** Resolves when a process has reached the place and taken the order. Rejects when the order is withdrawn before. */
  taken: Promise<void>;
  /** Ends the order: a waiting process continues, and an order that no process took is withdrawn. */
  end(): Promise<void>;
};

/** Orders the first process that reaches `place` (`<crash point>@<service>`) to die or to wait there; `folder` is its CRASH_ORDERS. */
export async function giveOrder(folder: string, place: string, order: CrashOrder): Promise<GivenOrder> {
  const [waiting, taken] = [orderFile(folder, place), takenFile(folder, place)];
  await rm(taken, { force: true });
  const isTaken = Promise.withResolvers<void>();
  isTaken.promise.catch(() => {});
  const watcher = watch(folder, () => {
    if (existsSync(taken)) isTaken.resolve();
  });
  // The file is written atomically, so that a process that finds it also finds the order in it.
  const unfinished = join(folder, 'unfinished');
  await writeFile(unfinished, order);
  await rename(unfinished, waiting);
  return {
    taken: isTaken.promise,
    async end() {
      watcher.close();
      isTaken.reject(new Error(`Nothing reached ${place}.`));
      await Promise.all([rm(waiting, { force: true }), rm(taken, { force: true })]);
    },
  };
}

const root = join(import.meta.dirname, '../../..');

type Place = readonly [point: string, service: ServiceName];

/** Code that only sites reach. */
const ofSites = /^services\/(deployer|gateway\/sites)\//;

/** The crash points in files of the services, each with its service. Workers share the crash point in the task queue. */
function placesIn(isWanted: (file: string) => boolean): Place[] {
  return serviceNames.flatMap((service) => {
    const code = globSync(`services/${service}/**/*.ts`, { cwd: root })
      .filter((file) => !file.endsWith('.test.ts') && isWanted(file))
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('');
    const own = [...code.matchAll(/crashPoint\('([a-z-]+)', '[a-z-]+'\)/g)].map(([, point = '']) => point);
    const queue = readFileSync(join(root, 'shared/messaging/queue/task-queue.ts'), 'utf8');
    const shared = [...queue.matchAll(/crashPoint\('([a-z-]+)', name\)/g)].map(([, point = '']) => point);
    const points = code.includes('startWorker(') ? [...own, ...shared] : own;
    return [...new Set(points)].map((point): Place => [point, service]);
  });
}

/** Every crash point that an export reaches. */
export const crashPlaces: readonly Place[] = placesIn((file) => !ofSites.test(file));

/** Every crash point that a site reaches beside those of its exports. */
export const siteCrashPlaces: readonly Place[] = placesIn((file) => ofSites.test(file));
