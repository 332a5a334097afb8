import type { Browser } from 'playwright-core';
import { afterEach, beforeAll } from 'vitest';
import { openBrowser } from './open-browser.ts';

/** Open browsers by their flags. Suites that run in one process share them, because a start takes as much processor time as several pages. */
const browsers = new Map<string, Browser>();

/** A busy machine may take long for a click. Only what hangs fails. */
const timeoutMs = 60_000;

/**
 * A browser for the tests of the suite around it, which ends with the process of the tests. Contexts share nothing, and those that a test opens are
 * closed after it. Pages have reduced motion, so that no animation changes what a test measures. `flags`: of Chromium.
 */
export function suiteBrowser(flags: readonly string[] = []): Pick<Browser, 'newContext'> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await browserWith(flags);
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  return {
    async newContext(options) {
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
      context.setDefaultTimeout(timeoutMs);
      return context;
    },
  };
}

async function browserWith(flags: readonly string[]): Promise<Browser> {
  const open = browsers.get(flags.join(' '));
  if (open?.isConnected() === true) return open;
  const browser = await openBrowser(flags);
  browsers.set(flags.join(' '), browser);
  return browser;
}
