import { isServiceName, type ServiceName, serviceNames } from '#infra/supervisor/service-names.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { serviceTable } from './service-table.ts';

/** A name that is no service's; the message lists those there are. */
export class UnknownService extends Error {
  override name = 'UnknownService';
}

/** The services that `bindery run` was asked for: `gateway,assistant`. */
export function parseServiceNames(list: string): ServiceName[] {
  return list.split(',').map((name) => {
    if (!isServiceName(name))
      throw new UnknownService(`There is no service "${name}". There are: ${serviceNames.join(', ')}.`);
    return name;
  });
}

/**
 * Runs services in this process until it is told to end: SIGTERM, Ctrl-C, or, under a supervisor, the end of the channel to it.
 * With a supervisor Ctrl-C is left to the supervisor, which knows the order.
 */
export async function runServices(names: ServiceName[]): Promise<void> {
  const running: Running[] = [];
  const stopAsked = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    if (process.send === undefined) {
      process.once('SIGINT', resolve);
    } else {
      process.on('SIGINT', () => {});
      process.once('disconnect', resolve);
    }
  });
  // In order: a gateway is of use only once what it calls is there.
  for (const name of names) running.push(await serviceTable[name](process.env));
  process.send?.({ ready: running.map(({ name, url }) => ({ name, url })) });
  await stopAsked;
  await Promise.all(running.toReversed().map((service) => service.stop()));
  process.exit(0);
}
