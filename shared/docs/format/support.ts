/** Bindery's support for one setting, key or property of the format. `note` tells readers of the documentation the limits, or the reason. */
export type Support = { is: 'done' | 'partly' | 'not'; note?: string };

/** Support by name, in the order in which the documentation lists the names. */
export type SupportTable = Readonly<Record<string, Support>>;

export const done: Support = { is: 'done' };
export const partly = (note: string): Support => ({ is: 'partly', note });
export const not = (note: string): Support => ({ is: 'not', note });

/** Marks each of the names, which are separated by spaces, as done. */
export const allDone = (names: string): SupportTable =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, done]));
