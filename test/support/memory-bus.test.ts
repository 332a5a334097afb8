import { busContract } from '#shared/messaging/bus.contract.ts';
import { memoryBus } from './memory-bus.ts';

busContract('memory', async () => {
  const bus = memoryBus();
  const problem = 'message 1 on it is not JSON.';
  return {
    ...{ gateway: bus, projector: bus, orchestrator: bus, renderer: bus, bundler: bus, housekeeper: bus },
    putUnreadable: async (subject) =>
      bus.memoryReaders.projectorDirectory.push({ subject, sequence: 1_000_000, value: undefined, problem }),
    stop: async () => {},
  };
});
