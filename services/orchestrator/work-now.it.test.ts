import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BusOf } from '#shared/messaging/bus.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { workNow } from './work-now.ts';
import { workerPool } from './worker-pool.ts';

const rendererVersion = 'r-000000000000';
const jobId = `se_${'a'.repeat(22)}`;

describeWithServers(['nats-server'], 'the work in progress, with the rights of the orchestrator', () => {
  let stand: TestBus;
  let bus: BusOf<'orchestrator'>;

  beforeAll(async () => {
    stand = await startTestBus();
    bus = await stand.connect('orchestrator');
  });
  afterAll(() => stand?.stop());

  test('has the depth of each queue and the holder of each role', async () => {
    const [renderers, bundlers] = [workerPool(bus.clock), workerPool(bus.clock)];
    const now = () => workNow({ bus, renderers, bundlers });
    const queues = [
      { queue: 'bundle', service: 'bundler', pending: 0, inFlight: 0, redelivered: 0 },
      { queue: `render-${rendererVersion}`, service: 'page-renderer', pending: 0, inFlight: 0, redelivered: 0 },
    ];
    expect(await now()).toEqual({ queues, leases: [], activeExports: 0, workers: [], problems: [] });

    const keeper = await stand.connect('housekeeper');
    const lease = await keeper.leases.acquire('housekeeper', 'housekeeper-1', new AbortController().signal);
    await bus.leases.acquire('orchestrator', 'orchestrator-1', new AbortController().signal);
    const task = {
      ...{ version: 1 as const, kind: 'chunk' as const, organization: 'acme', jobId, domain: 'docs' },
      ...{ planHash: '1'.repeat(64), attempt: 1, rendererVersion, pagesAlone: false },
    };
    for (const chunk of [0, 1]) await bus.tasks.submit({ ...task, chunk, taskId: `${jobId}.${chunk}.1` });
    const renderer = await stand.connect('page-renderer');
    const reader = await renderer.renderTasks(rendererVersion);
    const first = await reader.next({ expiresMs: 5_000 });
    expect(first?.value).toMatchObject({ chunk: 0 });
    expect(await now()).toMatchObject({
      queues: [{ pending: 0 }, { pending: 1, inFlight: 1, redelivered: 0 }],
      leases: [
        { role: 'orchestrator', holder: 'orchestrator-1' },
        { role: 'housekeeper', holder: 'housekeeper-1' },
      ],
      problems: [],
    });
    first?.nak();
    await expect.poll(async () => (await reader.next({ expiresMs: 1_000 }))?.deliveryCount).toBe(2);
    expect(await now()).toMatchObject({ queues: [{}, { redelivered: 1 }] });
    await lease.release();
    expect((await now()).leases).toEqual([{ role: 'orchestrator', holder: 'orchestrator-1' }]);
  });
});
