import { createHash } from 'node:crypto';
import { html, type SafeHtml } from './html.ts';

/** What a page holds beside its own files. */
export type PolicyInput = {
  /** The project's own scripts run in it. */
  tenantScripts?: boolean;
  /** It has the project's own style sheets. */
  tenantStyles?: boolean;
  /** Text of the scripts and styles inside it, which are ours. */
  inlineScripts?: readonly string[];
  inlineStyles?: readonly string[];
};

/** Files beside the page, from a server and from a folder: browsers do not agree on what `'self'` is for a folder. */
const own = "'self' file:";

/**
 * The content policy of a page as its `meta` element, which has to stand before everything that it is for. It allows what pages use: our
 * scripts and styles, style attributes (they are sanitized), pictures, media and frames of other sites by https, and the server that
 * `config.js` names. The project's own scripts may also load scripts of other sites; no page may have inline scripts of others, plugins
 * or another base address.
 */
export function contentPolicy(page: PolicyInput): SafeHtml {
  const { tenantScripts = false, tenantStyles = false, inlineScripts = [], inlineStyles = [] } = page;
  if (inlineScripts.length > 0 || inlineStyles.length > 0) return policyOf(page);
  const key = `${tenantScripts} ${tenantStyles}`;
  const made = ofPages.get(key) ?? policyOf(page);
  ofPages.set(key, made);
  return made;
}

/** Those of pages without anything inline: all pages of a site have the same. */
const ofPages = new Map<string, SafeHtml>();

function policyOf({
  tenantScripts = false,
  tenantStyles = false,
  inlineScripts = [],
  inlineStyles = [],
}: PolicyInput): SafeHtml {
  const policy = [
    `default-src ${own}`,
    `script-src ${words(own, tenantScripts && 'https:', hashes(inlineScripts))}`,
    `style-src ${words(own, (tenantStyles || tenantScripts) && 'https:', tenantScripts ? "'unsafe-inline'" : hashes(inlineStyles))}`,
    "style-src-attr 'unsafe-inline'",
    `img-src ${own} https: data:${tenantScripts ? ' blob:' : ''}`,
    `media-src ${own} https:${tenantScripts ? ' blob:' : ''}`,
    `font-src ${own} https: data:`,
    `frame-src https:${tenantScripts ? ' blob:' : ''}`,
    "connect-src 'self' https: http:",
    `form-action ${tenantScripts ? "'self' https:" : "'none'"}`,
    "object-src 'none'",
    "base-uri 'none'",
  ];
  return html`<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">`;
}

const words = (...parts: (string | false)[]): string => parts.filter((part) => part !== false && part !== '').join(' ');

const hashes = (texts: readonly string[]): string =>
  texts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ');
