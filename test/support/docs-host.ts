import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { docsHostSettings } from '#services/docs-host/config.ts';
import type { bundleOutcomes } from '#services/docs-host/follow-bundle.ts';
import { start } from '#services/docs-host/main.ts';
import type { SitesTimes } from '#services/docs-host/serve-platform-sites.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { Running } from '#shared/service/start-service.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { onLoopback } from './on-loopback.ts';

export type HostReadiness = { ready: boolean; missing: { site?: string }; degraded: { bundle?: string } };

/** A host with its log lines; `level` as in pino: 40 is a warning, 50 an error. */
export type TestedHost = Running & { log: readonly { level: number; msg: string }[] };

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on loopback whose answers a test sets. */
export type AnsweringServer = {
  url: string;
  /** Handler, which a test may replace. */
  answer: Answer;
  requests: IncomingMessage[];
  /** Closes the server, so that its address refuses connections. */
  goAway(): Promise<void>;
};

/** Documentation hosts for the tests of one suite, each test with its own folder. Everything that a test started is stopped after it. */
export function docsHosts() {
  const state = { folder: '' };
  const ends: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    state.folder = mkdtempSync(join(tmpdir(), 'bindery-docs-host-'));
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    rmSync(state.folder, { recursive: true, force: true });
  });
  return {
    folder: () => state.folder,
    /** Registers a clean-up after the test; the last one runs first. */
    atEnd: (end: () => Promise<unknown>) => void ends.push(end),
    /** A host on a free port that polls for bundles every second. */
    host: async (env: Record<string, string>, times: SitesTimes = {}): Promise<TestedHost> => {
      const own = { BINDERY_DATA: state.folder, BINDERY_DOCS_HOST_PORT: '0', BINDERY_DOCS_HOST_CHECK_SECONDS: '1' };
      const log: { level: number; msg: string }[] = [];
      const write = (line: string) => void log.push(JSON.parse(line) as (typeof log)[number]);
      const logger = createLogger('docs-host', 'docs-host-test', { write });
      logger.level = 'info';
      const running = await start(loadConfig(docsHostSettings, { ...own, ...env }), logger, times);
      ends.push(() => running.stop());
      return { ...running, log };
    },
    server: async (answer: Answer): Promise<AnsweringServer> => {
      const listening = createServer((request, response) => {
        server.requests.push(request);
        server.answer(request, response);
      });
      const { url, close } = await onLoopback(listening);
      const server: AnsweringServer = { url, answer, requests: [], goAway: close };
      ends.push(close);
      return server;
    },
  };
}

/** Answers with a bundle and its length. */
export const whole =
  (bundle: Buffer): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-length': bundle.length }).end(bundle);

/** Waits until `wanted` accepts the body of `/readyz`, and returns it. */
export async function hostReadiness(
  { url }: Pick<Running, 'url'>,
  wanted: (found: HostReadiness) => boolean,
): Promise<HostReadiness> {
  let found: HostReadiness | undefined;
  const ask = async () => {
    found = (await (await fetch(`${url}/readyz`)).json()) as HostReadiness;
    return found;
  };
  await expect.poll(ask, { timeout: 60_000, interval: 50 }).toSatisfy(wanted);
  return found as HostReadiness;
}

export const isReady = ({ ready }: HostReadiness): boolean => ready;
export const isDegraded = ({ ready, degraded }: HostReadiness): boolean => ready && degraded.bundle !== undefined;

/** Settings of a host whose metrics a test reads. */
export const withMetrics = { BINDERY_DOCS_HOST_HEALTH_PORT: '0' } as const;

const levels = { refused: 50, unavailable: 40 } as const satisfies Partial<
  Record<(typeof bundleOutcomes)[number], number>
>;

/**
 * Waits until a host, started `withMetrics`, keeps its current version for this reason. Expects that `/readyz`, the metrics and the log all report
 * it, and that readers get a page with `text`.
 */
export async function expectKept(
  { url, insideUrl, log }: TestedHost,
  outcome: keyof typeof levels,
  reason: RegExp,
  text = 'Version one',
): Promise<void> {
  const isSaid = ({ ready, degraded }: HostReadiness) => ready && reason.test(degraded.bundle ?? '');
  const { degraded } = await hostReadiness({ url: insideUrl }, isSaid);
  expect(degraded.bundle).toMatch(/^The version that was served stays: /);
  const metrics = await (await fetch(`${insideUrl}/metrics`)).text();
  expect(metrics).toContain('bindery_docs_host_ready{service="docs-host"} 1');
  expect(metrics).toContain('bindery_docs_host_degraded{service="docs-host"} 1');
  const count = new RegExp(`bindery_docs_host_bundles_total\\{outcome="${outcome}",service="docs-host"\\} (\\d+)`);
  expect(Number(count.exec(metrics)?.[1])).toBeGreaterThan(0);
  const logged = log.filter(({ msg }) => reason.test(msg));
  expect(logged.map(({ level }) => level)).toContain(levels[outcome]);
  expect(logged.map(({ msg }) => msg)).toContain(degraded.bundle);
  expect(await (await fetch(url)).text()).toContain(text);
}
