/** The visible text under one heading. Text before the first heading has `anchor` and `headings` empty. */
export type PageSection = {
  anchor: string;
  /** Outermost first; the last is the section's own. */
  headings: string[];
  /** Blocks separated by empty lines. */
  text: string;
};
