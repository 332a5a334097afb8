/*
 * Types of the globals that a page's scripts read from `window`. `render-site.ts` and `render-closing.ts` write the files that set them, with the
 * same types.
 */

import type { BinderyWidget, Widget, WidgetChat, WidgetOptions } from './widget-types.ts';
import type { PlaygroundForm, PlaygroundTexts } from './playground-form.ts';

/**
 * An entry of a sidebar in `_bindery/navigation/<id>.js`. Its members are the title `t`, the path of its page `p`, its address `h`, its children `c`,
 * the page of the group `r`, its icon `i`, and its tag `g`.
 */
export type SidebarEntry = {
  t: string;
  p?: string;
  h?: string;
  c?: SidebarEntry[];
  r?: string;
  /** Present if the group is open initially. */
  x?: 1;
  i?: string;
  g?: string;
};

/** A drawing consists of the shapes in an `svg` element; `frame` is the index of the element's start tag in `frames`. */
export type SidebarIcon = { shapes: string; frame: number } | { picture: string } | { text: string };

export type SidebarFile = {
  links: SidebarEntry[];
  entries: SidebarEntry[];
  /** Icons by the names in entries: a drawing, a picture (an address, or a path from the top of the bundle), or an emoji. */
  icons: Record<string, SidebarIcon>;
  /** Start tags of the drawings. Icons of a library share one, so each is stored once. */
  frames: string[];
  /** Present if opening a group navigates to its first page. */
  drilldown?: true;
};

/** `_bindery/config.js`. After `site.js` has run, all values are valid: a feature that lacks a value is off. */
export type SiteConfig = {
  deployment: 'cloud' | 'client-hosted' | 'air-gapped';
  features: {
    /** `server`: search of the platform. `bundle`: the index in the bundle, which needs no server. `off`: no search. */
    search: 'server' | 'bundle' | 'off';
    assistant: boolean;
    analytics: boolean;
    playground: boolean;
  };
  /** Address of the site, such as `https://docs.example.com`, for canonical addresses. Empty if it is unknown. */
  siteUrl: string;
  /** Public address of the Bindery platform, without a slash at the end. Empty if there is none. */
  serverUrl: string;
  /** Public key for search and assistant. Empty if there is none. */
  assistantKey: string;
  /** Name of the site on the platform. */
  domain: string;
  /** Analytics services by name. `consent`: key and value in the browser's storage that state the reader's consent. */
  analytics: Record<string, Record<string, string>>;
};

/** Content of `_bindery/search-index.js`. */
export type SearchIndex = {
  /** Languages and versions of pages; '' stands for all. */
  scopes: [language: string, version: string][];
  /** Titles of the groups that contain a page. */
  trails: string[];
  /** Number of pages of each part `_bindery/search/<number>.js`, in order. All pages of a part have one scope. */
  parts: number[];
  /** `scope` and `trail` are indexes of the lists. `keywords` find the page and are not shown. */
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

/** Sections of each page of a part, in the same order; the anchor is '' before the first heading. */
export type SearchSections = [anchor: string, heading: string, text: string][][];

/** Texts of scripts. `_bindery/texts/<language>.js` sets them in languages other than English. */
export type ScriptTexts = {
  openNavigation: string;
  closeNavigation: string;
  search: string;
  searchHint: string;
  /** `{query}` is the search query. */
  searchNone: string;
  searchFailed: string;
  searchBusy: string;
  searchRefused: string;
  /** Shown after one of the three messages above. */
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
  /** Label of the list of a page's views. */
  view: string;
  assistant: AssistantTexts;
  /** Numbers of search results, by the plural forms of the language. */
  results: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
};

/** Texts of the assistant and its panel. */
export type AssistantTexts = {
  /** Title of the panel. */
  title: string;
  ask: string;
  /** `{query}` is the search query. */
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
  /** Shown until the answer begins. */
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

/**
 * Initial state of the panel: a question that is asked at once, or a selection to ask about. `isAgain`: true if the panel was open on the previous
 * page.
 */
export type AssistantRequest = {
  question?: string;
  selection?: { type: 'code' | 'textSelection'; value: string; path: string };
  isAgain?: boolean;
};

declare global {
  /** Icons that scripts insert into pages; they are defined before the parts of each script. */
  const icons: Record<string, string>;
  /** Texts of the widget: the names of a table's texts, the tables joined by `|`, codes with the table of another one, and languages from right to left. */
  const widgetTexts: {
    names: readonly string[];
    tables: Record<string, string>;
    same: Record<string, string>;
    rightToLeft: RegExp;
  };
  const widgetStyles: string;
  const widgetVersion: string;
  /** The options of the widget in whose scope a part is. */
  const widgetOptions: WidgetOptions & { server: string; target?: Element };
  /** The parts of one widget, in a scope of their own. */
  function makeWidget(options: WidgetOptions): {
    buildFrame(): void;
    resumeTurn(): void;
    widgetHost: Element;
    shownWidget: Widget;
    chatOfWidget: WidgetChat;
  };
  interface Window {
    binderyNavigation?: SidebarFile;
    binderyConfig?: SiteConfig;
    binderySearchIndex?: SearchIndex;
    /** The parts of the search index call this function. */
    binderySearchPart?: (part: number, sections: SearchSections) => void;
    /** Set by `_bindery/search.js`. */
    binderySearch?: { open(placeholder: string, typed: string): void };
    binderyTexts?: ScriptTexts;
    /** Opens the assistant's panel, and asks the question if there is one. Absent if the assistant is off. Rejects if the panel cannot be loaded. */
    binderyOpenAssistant?: (asked?: string | AssistantRequest) => Promise<void>;
    /** Sets up the entries of a page's menu for agents. Set by `_bindery/agents.js`. */
    binderyAgents?: (
      menu: HTMLElement,
      config: Pick<SiteConfig, 'features' | 'serverUrl' | 'domain'>,
      copies: (entry: HTMLElement, textOf: () => string | Promise<string>) => void,
    ) => void;
    /** Set by `widget.js`. */
    BinderyWidget?: BinderyWidget;
    /** Set by `_bindery/assistant.js`. */
    binderyAssistant?: { open(asked: AssistantRequest): Promise<void> };
    binderyPlaygroundTexts?: PlaygroundTexts;
    /** Opens the form of an operation. Set by `_bindery/playground.js`. */
    binderyPlayground?: (form: PlaygroundForm) => void;
  }
  interface HTMLElement {
    /** Property of `details` and dialogs. */
    open?: boolean;
  }
}
