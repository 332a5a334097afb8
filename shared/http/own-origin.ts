const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * True for the origin of a page of these host names, or of a page on the reader's own machine, as of a tool for developers. Ports and schemes do not
 * count. Pure.
 */
export function isOriginOf(origin: string, hosts: readonly string[]): boolean {
  const host = URL.parse(origin)?.hostname ?? '';
  return hosts.includes(host) || loopback.has(host);
}
