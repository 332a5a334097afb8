import { createRequire } from 'node:module';
import type * as Undici from 'undici';

/** Globals of the package undici that requests and their answers use. */
const names = ['fetch', 'Headers', 'Request', 'Response', 'FormData'] as const;

let isReplaced = false;

/**
 * Replaces this process's `fetch` by that of the package undici. In Node 24 an assertion ends the process when a server closes a connection whose
 * response is read slowly (https://github.com/nodejs/undici/pull/5474), so that one slow reader of a streamed answer would end all requests. The
 * package is loaded on the first call, and `fetch` replaced once. HTTP/2 stays off, as in Node.
 */
export function replaceFetch(): void {
  if (isReplaced) return;
  isReplaced = true;
  const { Agent, install, setGlobalDispatcher } = createRequire(import.meta.url)('undici') as typeof Undici;
  setGlobalDispatcher(new Agent({ allowH2: false }));
  for (const name of names) Reflect.deleteProperty(globalThis, name);
  install();
}

/** Calls `replaceFetch` when `fetch` or one of its classes is first used. Most services never do, and the package takes 5 MB of each process. */
export function replaceFetchOnUse(): void {
  for (const name of names) {
    const get = (): unknown => {
      replaceFetch();
      return globalThis[name];
    };
    // Node's own property would load Node's own copy of the package when it is redefined.
    Reflect.deleteProperty(globalThis, name);
    Object.defineProperty(globalThis, name, { configurable: true, get });
  }
}
