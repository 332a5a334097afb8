/** A character of a key, plain or percent-encoded as in an address, also more than once. */
const orEncoded = (plain: string, hex: string) => `(?:${plain}|%(?:25)*(?:${hex}))`;

const prefix = [orEncoded('s', '73'), orEncoded('v', '76'), orEncoded('c', '63'), orEncoded('_', '5[fF]')].join('');
const ofAssistant = [orEncoded('d', '64'), orEncoded('s', '73'), orEncoded('c', '63'), orEncoded('_', '5[fF]')].join(
  '',
);
const digit = orEncoded('[0-9A-Za-z]', '3\\d|[46][1-9a-fA-F]|[57][\\daA]');

/** Matches whole API keys, and keys that were cut or mistyped. The prefix alone reveals nothing, so it is not matched. */
const keys = new RegExp(`${prefix}(?:${ofAssistant})?(?:${digit}){8,}`, 'g');

/**
 * A text without API keys, which may be logged or sent in an answer: clients put their API keys into addresses, fields and names by mistake, and
 * errors repeat the wrong value. Pure.
 */
export const withoutKeys = (text: string): string => text.replaceAll(keys, 'svc_…');
