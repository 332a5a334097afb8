/** What Bindery does with one setting, key or property of the format. `note`: for readers of the documentation, how it is done, or why it is not. */
export type Support = { is: 'done' | 'partly' | 'not'; note?: string };

/** By name, in the order in which the documentation lists them. */
export type SupportTable = Readonly<Record<string, Support>>;

export const done: Support = { is: 'done' };
export const partly = (note: string): Support => ({ is: 'partly', note });
export const not = (note: string): Support => ({ is: 'not', note });

/** The names of a table with nothing but a word for each. */
export const allDone = (names: string): SupportTable =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, done]));
