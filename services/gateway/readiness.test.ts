import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type GatewayHarness, gatewayHarness } from '../../test/support/gateway-harness.ts';

let gateway: GatewayHarness;
beforeEach(async () => {
  gateway = await gatewayHarness();
});
afterEach(() => gateway.close());

const readiness = async () => {
  const answer = await gateway.app.inject('/readyz');
  return { status: answer.statusCode, ...answer.json() };
};

test('a gateway that lacks only the object store still answers questions and lists, so it is ready', async () => {
  vi.spyOn(gateway.objectStore, 'check').mockRejectedValue(new Error('the store is away'));
  expect(await readiness()).toMatchObject({
    status: 200,
    ready: true,
    missing: {},
    degraded: { 'object store': 'the store is away' },
  });
});

test('a gateway without the bus is not ready', async () => {
  vi.spyOn(gateway.bus, 'check').mockRejectedValue(new Error('the bus is away'));
  expect(await readiness()).toMatchObject({ status: 503, ready: false, missing: { bus: 'the bus is away' } });
});
