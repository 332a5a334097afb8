let isReplaced: Promise<void> | undefined;

/**
 * Replaces this process's `fetch` by that of the package undici. In Node 24 an assertion ends the process when a server closes a connection whose
 * response is read slowly (https://github.com/nodejs/undici/pull/5474), so that one slow reader of a streamed answer would end all requests. The
 * package is imported on the first call, and replaced once. HTTP/2 stays off, as in Node.
 */
export function replaceFetch(): Promise<void> {
  isReplaced ??= replace();
  return isReplaced;
}

async function replace(): Promise<void> {
  const { Agent, install, setGlobalDispatcher } = await import('undici');
  setGlobalDispatcher(new Agent({ allowH2: false }));
  install();
}
