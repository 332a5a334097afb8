import { busContract } from '#shared/messaging/bus.contract.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { memoryBus } from './memory-bus.ts';

busContract('memory', async () => {
  const bus = memoryBus();
  const problem = new Poison('message 1 on it is not JSON.');
  return {
    ...{ gateway: bus, projector: bus, orchestrator: bus, renderer: bus, bundler: bus, housekeeper: bus },
    putUnreadable: async (subject) =>
      bus.memoryReaders.projectorDirectory.push({ subject, sequence: 1_000_000, value: undefined, problem }),
    stop: async () => {},
  };
});
