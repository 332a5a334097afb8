/** Kind of an address that an author wrote. Only this file decides whether a page may have an address. */
type ClassifiedUrl =
  | { kind: 'anchor'; hash: string }
  /** An address inside the site, as written: rooted or relative. */
  | { kind: 'path'; path: string; query: string; hash: string }
  | { kind: 'external'; href: string }
  | { kind: 'refused' };

/** Characters that browsers remove from addresses before they read the protocol. */
const invisible = /[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const externalProtocols = new Set(['http:', 'https:', 'mailto:', 'tel:', 'sms:']);
/**
 * Protocols of programs that documentation links to and that ask the user before they act on an address: editors and assistants that install from a
 * link, and programs for communication, planning and design.
 */
const programProtocols = new Set(
  `cursor cursor-insiders vscode vscode-insiders vscodium windsurf zed kiro trae antigravity jetbrains idea pycharm webstorm xcode
  claude goose lmstudio raycast warp postman insomnia docker-desktop github-mac x-github-client sourcetree gitkraken
  slack msteams zoommtg zoomus discord tg whatsapp signal skype facetime webex
  notion obsidian linear figma miro spotify things todoist webcal itms-apps market`
    .split(/\s+/)
    .map((name) => `${name}:`),
);
const maxLength = 8192;

/** Matches a path that cannot hide anything: nearly all paths do. */
const plainPath = /^(?!\/\/)([\w./-]+)(#[\w-]*)?$/;

/**
 * `//host` and forms with backslashes count as external, because browsers do the same. Protocols other than http, https, mailto, tel, sms and those
 * of known programs are refused, even if white space or control characters hide them.
 */
export function classifyUrl(written: string): ClassifiedUrl {
  if (written.length > maxLength) return { kind: 'refused' };
  const trimmed = written.trim();
  if (trimmed === '') return { kind: 'anchor', hash: '' };
  if (trimmed.startsWith('#')) return { kind: 'anchor', hash: trimmed };
  const plain = plainPath.exec(trimmed);
  if (plain) return { kind: 'path', path: plain[1] ?? '', query: '', hash: plain[2] ?? '' };
  const compact = trimmed.replace(invisible, '').replace(/\\/g, '/');
  if (compact.startsWith('//')) return external(`https:${compact}`);
  const protocol = /^([a-z][a-z0-9+.-]*:)/i.exec(compact)?.[1]?.toLowerCase();
  if (protocol !== undefined) {
    const isKnown = externalProtocols.has(protocol) || programProtocols.has(protocol);
    return isKnown ? external(compact) : { kind: 'refused' };
  }
  const parts = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(trimmed.replace(/[\u0000-\u001f\u007f]/g, '').replace(/\\/g, '/'));
  const path = parts?.[1] ?? '';
  // A browser could read a first part with a colon as a protocol, after it decodes entities or percent signs.
  if (/^[^/]*:/.test(path)) return { kind: 'refused' };
  return { kind: 'path', path, query: parts?.[2] ?? '', hash: parts?.[3] ?? '' };
}

function external(href: string): ClassifiedUrl {
  if (/^(mailto|tel|sms):/i.test(href)) return { kind: 'external', href };
  try {
    return { kind: 'external', href: new URL(href).href };
  } catch {
    return { kind: 'refused' };
  }
}

/** True for an inline picture in a format that cannot contain scripts. */
export function isInlineImage(written: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp|avif);base64,[a-z0-9+/=]+$/i.test(written) && written.length <= 262_144;
}

/** True if a page may link to the address. */
export const isSafeHref = (href: string): boolean => classifyUrl(href).kind !== 'refused';

/** True if the address is written as one outside the site, whether it is safe or not. */
export const isExternalHref = (href: string): boolean => /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(href.trim());

/** A path from the top of the project or from the folder of the page's file, as a path with a slash in front. */
export function rootedPath(path: string, file: string): string {
  const parts = path.startsWith('/') ? [] : file.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Decodes percent escapes; a text with an invalid escape stays unchanged. */
export function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
