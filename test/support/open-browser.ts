import { type Browser, chromium } from 'playwright-core';
import { findServer } from '#infra/setup/find-server.ts';

/** Chromium without what tests have no use for: it starts sooner and asks nothing of the network. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findServer('chromium') ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
