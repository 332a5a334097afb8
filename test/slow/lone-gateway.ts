import { bearer, createOrganization, gatewayHarness } from '../support/gateway-harness.ts';

/**
 * Runs a gateway in a separate process, so that its memory can be measured. It answers any message with the resident bytes and the bytes in use (heap
 * and external) after a garbage collection, and with the peak of resident bytes since the previous message.
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
