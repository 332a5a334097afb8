let isReplaced: Promise<void> | undefined;

/**
 * Gives this process the `fetch` of the package undici. That of Node 24 ends the process with an assertion when a server closes a connection
 * whose answer is read slowly (https://github.com/nodejs/undici/pull/5474), whoever asked: one slow reader of a streamed answer would end all.
 * Loads when it is called, and does its work once. HTTP/2 stays off, as in Node.
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
