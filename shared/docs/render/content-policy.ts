import { createHash } from 'node:crypto';
import { html, type SafeHtml } from './html.ts';

/** Contents of a page that its content security policy must allow, beside its own files. */
export type PolicyInput = {
  /** The page runs the project's own scripts. */
  tenantScripts?: boolean;
  /** The page has the project's own style sheets. */
  tenantStyles?: boolean;
  /** Texts of the inline scripts and styles, all of them ours. */
  inlineScripts?: readonly string[];
  inlineStyles?: readonly string[];
};

/** Sources for the page's own files, from a server and from a folder. Browsers disagree about the meaning of `'self'` for a folder. */
const own = "'self' file:";

/**
 * The content security policy of a page as a `meta` element. It applies only to elements after it, so it has to come first. It allows our scripts and
 * styles, style attributes (they are sanitized), pictures, media and frames of other sites by https, and the server that `config.js` names. The
 * project's own scripts may also load scripts of other sites. Inline scripts of others, plugins and a change of the base address are always refused.
 */
export function contentPolicy(page: PolicyInput): SafeHtml {
  const { tenantScripts = false, tenantStyles = false, inlineScripts = [], inlineStyles = [] } = page;
  if (inlineScripts.length > 0 || inlineStyles.length > 0) return policyOf(page);
  const key = `${tenantScripts} ${tenantStyles}`;
  const made = ofPages.get(key) ?? policyOf(page);
  ofPages.set(key, made);
  return made;
}

/** Cache of the policies of pages without inline scripts and styles: all pages of a site have the same. */
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
