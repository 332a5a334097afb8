/*
 * What the scripts of a page find on `window`. `render-site.ts` and `render-closing.ts` write the files that set it, with the same types.
 */

import type { PlaygroundForm, PlaygroundTexts } from './playground-form.ts';

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

/** A drawing is the shapes inside of an `svg` element; `frame` is the place of the element's start tag in `frames`. */
export type SidebarIcon = { shapes: string; frame: number } | { picture: string } | { text: string };

export type SidebarFile = {
  links: SidebarEntry[];
  entries: SidebarEntry[];
  /** The icons that the entries name: a drawing, a picture (an address, or a path from the top of the bundle), or an emoji. */
  icons: Record<string, SidebarIcon>;
  /** Start tags of the drawings. All icons of a library have the same, so each is here once. */
  frames: string[];
  /** A group that opens leads to its first page. */
  drilldown?: true;
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
  /** Services that count visits, by name. `consent`: key and value that say in a browser that its reader agrees. */
  analytics: Record<string, Record<string, string>>;
};

/** `_bindery/search-index.js`. */
export type SearchIndex = {
  /** Languages and versions that pages belong to; '' is all of them. */
  scopes: [language: string, version: string][];
  /** Titles of the groups around a page. */
  trails: string[];
  /** How many pages each part has, in their order: `_bindery/search/<number>.js`. All pages of a part have one scope. */
  parts: number[];
  /** `scope` and `trail` are numbers in the lists. `keywords` find the page and are not shown. */
  pages: [
    path: string,
    title: string,
    description: string,
    scope: number,
    trail: number,
    keywords?: string,
    boost?: number,
  ][];
};

/** Of each page of a part, in the same order; the anchor is '' before the first heading. */
export type SearchSections = [anchor: string, heading: string, text: string][][];

/** Words that the scripts show; `_bindery/texts/<language>.js` sets them where they are not English. */
export type ScriptTexts = {
  openNavigation: string;
  closeNavigation: string;
  search: string;
  searchHint: string;
  /** `{query}` is what was searched. */
  searchNone: string;
  searchFailed: string;
  searchBusy: string;
  searchRefused: string;
  /** Follows one of the three before it. */
  searchHere: string;
  searchRecent: string;
  searchAll: string;
  searchClose: string;
  diagram: string;
  diagramNotDrawn: string;
  islandNotRun: string;
  enlarge: string;
  copy: string;
  copied: string;
  showAllLines: string;
  darkTheme: string;
  lightTheme: string;
  /** Names the list of versions of a page. */
  view: string;
  assistant: AssistantTexts;
  /** How many results a search has, by the plural forms of the language. */
  results: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
};

/** Words of the assistant and its panel. */
export type AssistantTexts = {
  /** Names the panel. */
  title: string;
  ask: string;
  /** `{query}` is what was searched. */
  askQuery: string;
  askSelection: string;
  welcome: string;
  note: string;
  placeholder: string;
  send: string;
  stop: string;
  retry: string;
  newThread: string;
  close: string;
  removeSelection: string;
  sources: string;
  helpful: string;
  notHelpful: string;
  /** Until the answer begins. */
  working: string;
  stopped: string;
  cut: string;
  tooLong: string;
  offline: string;
  unavailable: string;
  invalid: string;
  refused: string;
  unknownSite: string;
  busy: string;
};

/** What the panel opens with: a question that is asked at once, or something selected to ask about. `isAgain`: it was open on the page before. */
export type AssistantRequest = {
  question?: string;
  selection?: { type: 'code' | 'textSelection'; value: string; path: string };
  isAgain?: boolean;
};

declare global {
  /** Drawings that scripts put into pages; they stand in front of the parts of each script. */
  const icons: Record<string, string>;
  interface Window {
    binderyNavigation?: SidebarFile;
    binderyConfig?: SiteConfig;
    binderySearchIndex?: SearchIndex;
    /** What the parts of the index call. */
    binderySearchPart?: (part: number, sections: SearchSections) => void;
    /** Set by `_bindery/search.js`. */
    binderySearch?: { open(placeholder: string, typed: string): void };
    binderyTexts?: ScriptTexts;
    /** Opens the assistant's panel, and asks if there is a question. Absent where the assistant is off. Rejects when the panel cannot be loaded. */
    binderyOpenAssistant?: (asked?: string | AssistantRequest) => Promise<void>;
    /** Set by `_bindery/assistant.js`. */
    binderyAssistant?: { open(asked: AssistantRequest): Promise<void> };
    binderyPlaygroundTexts?: PlaygroundTexts;
    /** Opens the form of an operation. `_bindery/playground.js` sets it. */
    binderyPlayground?: (form: PlaygroundForm) => void;
  }
  interface HTMLElement {
    /** Of `details` and dialogs. */
    open?: boolean;
  }
}
