import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { start } from '#services/docs-host/main.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { Running } from '#shared/runtime/start-service.ts';

export type HostReadiness = { ready: boolean; missing: { site?: string }; degraded: { bundle?: string } };

/** Documentation hosts for the tests of one suite, each test with a folder of its own. What a test started ends with it. */
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
    /** Called after the test, the last one first. */
    atEnd: (end: () => Promise<unknown>) => void ends.push(end),
    /** A host on a free port that looks for bundles every second. */
    host: async (env: Record<string, string>): Promise<Running> => {
      const own = { BINDERY_DATA: state.folder, BINDERY_DOCS_HOST_PORT: '0', BINDERY_DOCS_HOST_CHECK_SECONDS: '1' };
      const running = await start(loadConfig(docsHostSettings, { ...own, ...env }));
      ends.push(() => running.stop());
      return running;
    },
  };
}

/** Waits until `/readyz` is as wanted, and gives it. */
export async function hostReadiness(
  { url }: Pick<Running, 'url'>,
  wanted: (found: HostReadiness) => boolean,
): Promise<HostReadiness> {
  let found: HostReadiness | undefined;
  const ask = async () => {
    found = (await (await fetch(`${url}/readyz`)).json()) as HostReadiness;
    return found;
  };
  await expect.poll(ask, { timeout: 20_000, interval: 50 }).toSatisfy(wanted);
  return found as HostReadiness;
}

export const isReady = ({ ready }: HostReadiness): boolean => ready;
export const isDegraded = ({ ready, degraded }: HostReadiness): boolean => ready && degraded.bundle !== undefined;
