const safeProtocols = new Set(['http', 'https', 'mailto', 'tel']);

/**
 * Whether a link may stand in a page. Browsers skip control characters and blanks before they look for a protocol, so this does, too.
 * Allowed are http, https, mailto, tel and everything relative.
 */
export function isSafeHref(href: string): boolean {
  const compact = href.replaceAll(/[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2028\u2029\ufeff]/g, '');
  const protocol = /^([^/?#]*?):/.exec(compact)?.[1];
  return protocol === undefined || safeProtocols.has(protocol.toLowerCase());
}

export const isExternalHref = (href: string): boolean => /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(href.trim());
