/*
 * What the scripts of a page find on `window`. `render-site.ts` and `render-closing.ts` write the files that set it, with the same types.
 */

/** An entry of a sidebar, as `_bindery/navigation/<id>.js` has it: p page path, h address, c children, r page of the group itself. */
export type SidebarEntry = {
  t: string;
  p?: string;
  h?: string;
  c?: SidebarEntry[];
  r?: string;
  /** Open from the start. */
  x?: 1;
  i?: string;
  g?: string;
};

export type SidebarIcon = { svg: string } | { picture: string } | { text: string };

export type SidebarFile = {
  links: SidebarEntry[];
  entries: SidebarEntry[];
  /** The icons that the entries name: a drawing, a picture (an address, or a path from the top of the bundle), or an emoji. */
  icons: Record<string, SidebarIcon>;
};

/** `_bindery/config.js`. After `site.js` ran it has only values that can be used: what lacks one is off. */
export type SiteConfig = {
  deployment: 'cloud' | 'client-hosted' | 'air-gapped';
  features: {
    /** `server`: the platform's search. `bundle`: the index that is in the bundle, which needs no server. `off`. */
    search: 'server' | 'bundle' | 'off';
    assistant: boolean;
    analytics: boolean;
    playground: boolean;
  };
  /** Where the site is, such as `https://docs.example.com`: for canonical addresses. Empty: not known. */
  siteUrl: string;
  /** Public address of the Bindery platform, without a slash at the end. Empty: none. */
  serverUrl: string;
  /** Public key for search and assistant. Empty: none. */
  assistantKey: string;
  /** Name of the site on the platform. */
  domain: string;
};

/** `_bindery/search-index.js`. */
export type SearchIndex = {
  pages: [path: string, title: string, description: string][];
  /** Of each page, in the same order. */
  sections: [anchor: string, heading: string, text: string][][];
};

/** Words that the scripts show; `_bindery/texts/<language>.js` sets them where they are not English. */
export type ScriptTexts = {
  openNavigation: string;
  closeNavigation: string;
  search: string;
  diagram: string;
  diagramNotDrawn: string;
  enlarge: string;
  copy: string;
  copied: string;
  showAllLines: string;
  darkTheme: string;
  lightTheme: string;
  /** Names the list of versions of a page. */
  view: string;
  /** How many results a search has, by the plural forms of the language. */
  results: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
};

declare global {
  /** Drawings that scripts put into pages; they stand in front of the parts of each script. */
  const icons: Record<'chevron-right' | 'copy' | 'maximize', string>;
  interface Window {
    binderyNavigation?: SidebarFile;
    binderyConfig?: SiteConfig;
    binderySearchIndex?: SearchIndex;
    binderyTexts?: ScriptTexts;
    /** Opens the assistant's panel, and asks if there is a question. Absent where the assistant is off. Rejects when the panel cannot be loaded. */
    binderyOpenAssistant?: (question?: string) => Promise<void>;
    /** Set by `_bindery/assistant.js`. Without a question the panel only opens. */
    binderyAssistant?: { ask(question?: string): void };
  }
  interface HTMLElement {
    /** Of `details` and dialogs. */
    open?: boolean;
  }
}
