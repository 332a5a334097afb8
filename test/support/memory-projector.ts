import { projectorApp } from '#services/projector/projector-app.ts';
import { type Verifications, verifications } from '#services/projector/verifications.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { type ServiceParts, serviceToken } from './gateway-harness.ts';
import { testAuditKey } from './make-commit.ts';
import type { MemoryBus } from './memory-bus.ts';
import { memoryLogAudit } from './memory-log-audit.ts';

/** The server of a projector over the bus of a gateway harness, which verifies its logs. */
export async function memoryProjector({ bus, objectStore, clock, logger }: ServiceParts & { bus: MemoryBus }): Promise<{
  env: Record<string, string>;
  verifications: Verifications;
  close(): Promise<void>;
}> {
  const stopping = new AbortController();
  const openLogs = async () => memoryLogAudit(bus);
  const parts = { bus, objectStore, clock, logger, openLogs, auditKey: testAuditKey, stopping: stopping.signal };
  const verifying = verifications(parts);
  const metrics = serviceMetrics('test');
  const options = { callerTokens: { gateway: serviceToken }, logger, checks: {}, draining: () => false, metrics };
  const app = projectorApp(verifying, options);
  return {
    env: { BINDERY_PROJECTOR_URL: await app.listen({ host: '127.0.0.1', port: 0 }) },
    verifications: verifying,
    async close() {
      stopping.abort();
      await verifying.idle();
      await app.close();
    },
  };
}
