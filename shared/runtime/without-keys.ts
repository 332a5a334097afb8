/** Whole API keys, and such that were cut or mistyped. Their start alone says nothing. */
const keys = /svc_(?:dsc_)?[0-9A-Za-z]{8,}/g;

/**
 * A text as it may be logged or answered: clients put their API keys into addresses, fields and names by mistake, and errors name what was
 * wrong. Pure.
 */
export const withoutKeys = (text: string): string => text.replaceAll(keys, 'svc_…');
