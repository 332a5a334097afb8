export function putInCache(
  name: string,
  version: string,
  fill: (folder: string) => Promise<void> | void,
): Promise<string>;
export function withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
