import { bearer, createOrganization, gatewayHarness } from '../support/gateway-harness.ts';

/**
 * A gateway in a process of its own, so that its memory can be measured: any message is answered with the bytes that are resident and held after
 * a garbage collection, and the peak of resident bytes since the previous message.
 */
const gateway = await gatewayHarness({ BINDERY_ASSISTANT_URL: process.argv[2] ?? '' });
const organization = await createOrganization(gateway);
const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
const resident = () => process.memoryUsage.rss();
let most = resident();
setInterval(() => {
  most = Math.max(most, resident());
}, 50).unref();
process.on('message', () => {
  const mostUntilNow = Math.max(most, resident());
  globalThis.gc?.();
  most = resident();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ resident: most, held: heapUsed + external, most: mostUntilNow });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url, headers: bearer(organization.assistantKey) });
