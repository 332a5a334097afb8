import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { processEnvironment, type ServiceName, serviceNames } from '#infra/supervisor/services.ts';
import { jobPath } from '#services/cli/api-client.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { addOrganization, exportHistory, type Organization } from '../support/installation-exports.ts';
import { acceptsConnections } from '../support/server-process.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { takeTurns, type TurnTaker } from '../support/take-turns.ts';

const jobCount = 200;
const organizationCount = 5;
const pageCount = 12;
const atOnce = 8;
const minuteMs = 60_000;
const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');

/** Two gateways behind a load balancer, as an installation with uninterrupted updates has, and one process of each other service. */
describeWithServers(['nats-server'], 'every service restarted, one after the other, under load', () => {
  let harness: TestInstallation;
  let balancer: TurnTaker;
  let gateway: { restart(): Promise<void>; stop(): Promise<void> };
  const sites: Organization[] = [];
  let ports: Record<string, number>;
  const environment = {
    BINDERY_LIMIT_STARTS_PER_HOUR: '100000',
    BINDERY_LINGER_SECONDS: '2',
    BINDERY_LOG_LEVEL: 'silent',
  };

  beforeAll(async () => {
    harness = await startInstallation({ environment, healthyAfterMs: 0 });
    ports = JSON.parse(await readFile(join(harness.folder, 'ports.json'), 'utf8')) as Record<string, number>;
    const [port = 0, inside = 0] = await freePorts(2);
    gateway = await secondGateway(port, inside);
    balancer = await takeTurns([ports.gateway ?? 0, port]);
    for (let at = 0; at < organizationCount; at += 1)
      sites.push(await addOrganization(harness, `Site ${at}`, pageCount));
  }, 2 * minuteMs);
  afterAll(async () => {
    await balancer?.close();
    await gateway?.stop();
    await harness?.stop();
  });

  async function secondGateway(port: number, inside: number) {
    const { installation } = harness;
    const plan = {
      ...{ dataFolder: harness.folder, publicUrl: installation.baseUrl, host: '127.0.0.1', rendererSlots: 1 },
      gatewayPort: port,
      natsUrl: installation.natsUrl,
      ports: { ...ports, gateway: inside } as Record<ServiceName, number>,
      secrets: installation.secrets,
    };
    const env = processEnvironment({ services: ['gateway'], copy: 0 }, plan, { ...process.env, ...environment });
    const run = async () => {
      const child = spawn(execPath, [main, 'run', 'gateway'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
      await acceptsConnections(port, minuteMs);
      await isReady(inside);
      return child;
    };
    let child = await run();
    const stop = async () => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    };
    return {
      stop,
      async restart() {
        await stop();
        child = await run();
      },
    };
  }

  async function isReady(port: number): Promise<void> {
    const deadline = performance.now() + minuteMs;
    for (;;) {
      const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) return;
      if (performance.now() > deadline) throw new Error(`Port ${port} is not ready within a minute.`);
      await delay(50);
    }
  }

  /** Ends the process of a service, which the supervisor then restarts. */
  async function restart(service: ServiceName): Promise<void> {
    const before = harness.installation.pids(service);
    for (const pid of before) process.kill(pid, 'SIGTERM');
    await expect
      .poll(() => harness.installation.pids(service).filter((pid) => !before.includes(pid)).length, {
        timeout: minuteMs,
      })
      .toBe(before.length);
    await isReady(ports[service === 'gateway' ? 'gateway-inside' : service] ?? 0);
  }

  test(`${jobCount} exports complete, and no request fails but with a 503 that is repeated`, {
    timeout: 10 * minuteMs,
  }, async () => {
    /** Number of answers by status; `broke` counts requests without an answer. */
    const answers: Record<string, number> = {};
    const restarted: string[] = [];
    const count = (what: string) => void (answers[what] = (answers[what] ?? 0) + 1);
    /** Repeats the request until the answer is not 503. */
    const ask = async (site: Organization, path: string, start?: { key: string; json: object }): Promise<ExportJob> => {
      for (;;) {
        const answer = await fetch(balancer.url + path, {
          headers: {
            authorization: `Bearer ${site.adminKey}`,
            ...(start && { 'content-type': 'application/json', 'idempotency-key': start.key }),
          },
          ...(start && { method: 'POST', body: JSON.stringify(start.json) }),
          signal: AbortSignal.timeout(minuteMs),
        }).catch((error: Error) => count(`broke: ${messageOf(error.cause ?? error)}`));
        if (answer !== undefined) {
          count(String(answer.status));
          const body = (await answer.json()) as ExportJob;
          if (answer.ok) return body;
          if (answer.status !== 503) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(body)}`);
        }
        await delay(200);
      }
    };
    let done = 0;
    const exporting = inParallel(
      Array.from({ length: jobCount }, (_, at) => at),
      atOnce,
      async (at) => {
        const site = sites[at % sites.length] as Organization;
        const request = { domain: site.domain, version: `label-${at}` };
        const start = { key: `rolling-${at}`, json: request };
        const { jobId } = await ask(site, '/v1/static-export/jobs', start);
        for (;;) {
          const job = await ask(site, jobPath(jobId));
          if (job.status === 'failed') throw new Error(`${jobId} failed: ${job.error}`);
          if (job.status === 'completed') break;
          await delay(100);
        }
        done += 1;
        return { site, jobId };
      },
    );
    const everyServiceOnce = async (): Promise<void> => {
      for (const service of serviceNames) {
        await restart(service);
        if (service === 'gateway') await gateway.restart();
        restarted.push(`${service} at ${done}`);
      }
    };
    const [jobs] = await Promise.all([exporting, everyServiceOnce()]);
    process.stdout.write(`restarted ${restarted.join(', ')}; answers ${JSON.stringify(answers)}\n`);
    expect(Object.keys(answers).filter((status) => !['200', '202', '503'].includes(status))).toEqual([]);
    expect(restarted).toHaveLength(serviceNames.length);
    const [{ site, jobId } = { site: sites[0] as Organization, jobId: '' }] = jobs.slice(-1);
    const { problems } = await exportHistory(
      { installation: harness.installation, organization: site.organization },
      jobId,
    );
    expect(problems).toEqual([]);
  });
});
