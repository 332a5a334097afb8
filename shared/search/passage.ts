/** A piece of one page that can be found and quoted: one section or a part of it. Visible text only. */
export type Passage = {
  /** Page path as readers know it (`guides/x`); the start page is `index`. */
  path: string;
  /** Anchor of the section on its page; '' before the first heading. */
  anchor: string;
  /** Title of the page. */
  title: string;
  /** Headings above the text, outermost first, joined by ` › `; '' before the first heading. */
  heading: string;
  text: string;
};

/** What all passages of one page share and what search filters by. */
export type SearchPage = {
  path: string;
  title: string;
  /** Found together with the title, shown nowhere. */
  keywords: readonly string[];
  /** Absent: the page belongs to all languages or versions. */
  language?: string | undefined;
  version?: string | undefined;
  tag?: string | undefined;
  /** Only readers of one of these groups may see it; empty: everyone. */
  groups: readonly string[];
  /** 1 for most; less puts its passages behind equal ones of other pages, more before them (0.1–3). */
  boost: number;
  passages: readonly Omit<Passage, 'path' | 'title'>[];
};

export type FoundPassage = Passage & {
  /** 0–1; comparable between questions to one content version. */
  score: number;
  /** Share of the question that the passage has, each word by how rare it is in this content version, 0–1. */
  coverage: number;
  language: string | undefined;
  version: string | undefined;
  tag: string | undefined;
};
