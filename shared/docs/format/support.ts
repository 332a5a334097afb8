import { text, type ValueKind } from './value-kinds.ts';

/**
 * One setting, key or property of the format. `says`: its meaning, in a sentence for authors. `note` tells readers of the documentation the limits of
 * Bindery's support, or the reason why there is none. `value`: what can be written.
 */
export type Support = { is: 'done' | 'partly' | 'not'; says: string; note?: string; value: ValueKind };

/** Support by name, in the order in which the documentation lists the names. */
export type SupportTable = Readonly<Record<string, Support>>;

export const done = (says: string, value: ValueKind = text): Support => ({ is: 'done', says, value });
export const partly = (says: string, note: string, value: ValueKind = text): Support => ({
  ...{ is: 'partly', says, note, value },
});
export const not = (says: string, note: string, value: ValueKind = text): Support => ({
  ...{ is: 'not', says, note, value },
});

/** Support for several names, which are separated by spaces: `Note Tip`. `before` is the common begin of the names. */
export const each = (names: string, support: (name: string) => Support, before = ''): SupportTable =>
  Object.fromEntries(names.split(/\s+/).map((name) => [before + name, support(name)]));
