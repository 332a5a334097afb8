import { type Browser, chromium } from 'playwright-core';
import { findServer } from '#infra/setup/find-server.ts';

/** Chromium without features that tests do not need, so that it starts sooner and makes no requests of its own. `flags`: further command-line flags. */
export function openBrowser(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: findServer('chromium') ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });
}
