/*
 * Types of `widget.js`. The npm package has them as `widget.d.ts`.
 */

/** Settings of a widget: the documentation that it asks, and its look. */
export type WidgetOptions = {
  /** Name of the documentation on the platform. */
  domain: string;
  /** Address of the gateway. By default that of the script. Without a key: of the site, from one of its own pages. */
  server?: string;
  /** Assistant key. It is public: anybody can read it in the page. */
  key?: string;
  /** Address of the documentation site, to which sources link. Without it they are shown as text. */
  site?: string;
  /** Ending of page addresses, such as `.html` for a site on a server of static files. */
  pageEnd?: string;
  /** The element, or a selector of it, that gets the panel. Without it a button opens the panel over the page. */
  target?: string | Element;
  /** Where the button is: at the end of a line (right in English), or at its start. */
  position?: 'end' | 'start';
  /** A BCP 47 tag such as `pt-BR`; by default the language of the page, then the reader's. */
  language?: string;
  /** `auto` follows the reader's system. */
  theme?: 'auto' | 'light' | 'dark';
  /** The accent in hex, such as `#0f766e`. */
  color?: string;
  /** Title of the panel, and text of the button. */
  title?: string;
  label?: string;
  /** Questions that a reader may begin with. */
  questions?: readonly string[];
  /** Page of the documentation that the reader is on, such as `/guides/keys`. */
  currentPath?: string;
  /** Limits answers to pages of this language, this version and these groups. */
  filter?: { language?: string; version?: string; groups?: readonly string[] };
  /** A reader's token, for documentation with groups of readers; a function is called for each question. */
  userToken?: string | (() => string | Promise<string>);
  /** Distinguishes conversations and widgets that are otherwise equal. */
  name?: string;
};

/** A question with its answer, in Markdown. `href` of a source is undefined if it cannot be linked. */
export type WidgetTurn = {
  question: string;
  text: string;
  sources: { title: string; url: string; href?: string }[];
  /** Ideas for the next question. */
  suggestions: readonly string[];
  /** Names the answer in ratings; empty until it begins. */
  messageId: string;
  rating?: 'up' | 'down';
  /** The reason why the answer is not whole: its kind, such as `cut` or `busy`, and a sentence in the reader's language. */
  problem?: { kind: string; text: string };
};

/** Unchanged, the same object is returned. */
export type WidgetState = { isAsking: boolean; threadId: string; turns: readonly WidgetTurn[] };

type WidgetEvents = {
  /** The state changed, also while an answer grows. */
  change: undefined;
  ask: { question: string };
  /** An answer has ended. */
  answer: WidgetTurn;
  feedback: { messageId: string; rating: 'up' | 'down' };
  /** A new conversation began. */
  reset: undefined;
  open: undefined;
  close: undefined;
  destroy: undefined;
};
export type WidgetEvent = keyof WidgetEvents;

/** A conversation without elements, for programs that show it themselves. */
export type WidgetChat = {
  state(): WidgetState;
  /** Calls the function at each change; returns a function that ends this. Both fit `useSyncExternalStore`. */
  subscribe(run: () => void): () => void;
  on<Type extends WidgetEvent>(type: Type, run: (detail: WidgetEvents[Type]) => void): () => void;
  /** Resolves when the answer has ended, whole or not. While another answer grows, nothing is asked. */
  ask(question: string): Promise<void>;
  stop(): void;
  /** False if the rating was not stored. */
  rate(messageId: string, rating: 'up' | 'down'): Promise<boolean>;
  /** Begins a new conversation. */
  reset(): void;
  /** Removes all listeners. The conversation stays in the tab's storage, and the next widget comes back to the answer in flight. */
  destroy(): void;
};

export type Widget = WidgetChat & {
  /** Opens the panel, gives it the focus, and asks the question if there is one. */
  open(question?: string): Promise<void>;
  close(): void;
  /** Always true in the page. */
  isOpen(): boolean;
  setTheme(theme: 'auto' | 'light' | 'dark'): void;
};

/** `window.BinderyWidget`. The functions without a widget apply to the newest one. */
export type BinderyWidget = {
  readonly version: string;
  /** Returns the widget that is there already for the same element, server, domain and name. Throws a TypeError for options that cannot be used. */
  init(options: WidgetOptions): Widget;
  chat(options: WidgetOptions): WidgetChat;
  open(question?: string): Promise<void>;
  close(): void;
  ask(question: string): Promise<void>;
  /** Ends all widgets. */
  destroy(): void;
};

declare global {
  /** Programs without the types of a browser have none for elements. */
  interface Element {
    readonly isConnected: boolean;
  }
}
