import { bearer, createOrganization, gatewayHarness } from '../support/gateway-harness.ts';

/** A gateway in a process of its own, so that its memory can be told. Its parent sends any message to be sent the memory. */
const gateway = await gatewayHarness({ BINDERY_ASSISTANT_URL: process.argv[2] ?? '' });
const organization = await createOrganization(gateway);
const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
process.on('message', () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url, headers: bearer(organization.assistantKey) });
