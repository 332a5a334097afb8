/** A character of a key, plain or percent-encoded as in an address, also more than once. */
const orEncoded = (plain: string, hex: string) => `(?:${plain}|%(?:25)*(?:${hex}))`;

/** A beginning of keys, such as `dsc_`, with each character plain or encoded. */
const beginning = (text: string): string =>
  text.replaceAll(/./g, (each) => orEncoded(each, each === '_' ? '5[fF]' : each.charCodeAt(0).toString(16)));

const digit = orEncoded('[0-9A-Za-z]', '3\\d|[46][1-9a-fA-F]|[57][\\daA]');

const kinds = `(?:${beginning('dsc_')}|${beginning('site_')})?`;
/** Matches whole API keys, and keys that were cut or mistyped. The prefix alone reveals nothing, so it is not matched. */
const keys = new RegExp(`${beginning('svc_')}${kinds}(?:${digit}){8,}`, 'g');

/**
 * A text without API keys, which may be logged or sent in an answer: clients put their API keys into addresses, fields and names by mistake, and
 * errors repeat the wrong value. Pure.
 */
export const withoutKeys = (text: string): string => text.replaceAll(keys, 'svc_…');
