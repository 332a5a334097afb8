import type { ServiceHealth } from '#shared/interfaces/http/installation.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { type Readiness, readinessSchema } from '#shared/runtime/health-routes.ts';

/** A page waits for the slowest service. One whose checks wait for the bus is late, and the gateway's own health says so. */
const answerWithinMs = 1_900;

/** The health that the service at an address reports. Never rejects: a service that does not answer is `unreachable`. */
export async function askedHealth(service: string, baseUrl: string): Promise<ServiceHealth> {
  const unreachable = (reason: string): ServiceHealth => ({
    ...{ service, state: 'unreachable', problems: [{ part: service, reason }] },
  });
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await fetch(`${baseUrl.replace(/\/+$/, '')}/readyz`, { redirect: 'error', signal });
    const read = readinessSchema.safeParse(await answer.json().catch(() => undefined));
    if (read.success && read.data.service === service) return healthOf(read.data);
    return unreachable(`its address answers ${answer.status}, and not as a ${service} of Bindery`);
  } catch (error) {
    return unreachable(connectionProblem(error));
  }
}

/** The health of a service from the answer of its `/readyz`. Pure. */
export function healthOf({ service, ready, version, missing, degraded }: Readiness): ServiceHealth {
  const problems = Object.entries({ ...degraded, ...missing }).map(([part, reason]) => ({ part, reason }));
  const state = !ready ? 'unready' : problems.length > 0 ? 'degraded' : 'ready';
  return { service, state, ...(version !== undefined && { version }), problems };
}
