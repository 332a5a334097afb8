import type { ServerResponse } from 'node:http';
import type { DevPage } from './dev-pages.ts';
import type { ShownProblem } from './page-problems.ts';

/** A message to an open page. */
export type TabMessage =
  /** The page has other HTML. `files`: files of the bundle with other bytes, which it may show. */
  | { kind: 'page'; key: string; html: string; files: string[] }
  /** Files of the bundle have other bytes. */
  | { kind: 'files'; files: string[] }
  /** The page must be loaded again: its scripts changed, or there is something else at its address. `to`: another address. */
  | { kind: 'reload'; to?: string }
  /** The problems of the page and its project; none if they are solved. */
  | { kind: 'problems'; problems: ShownProblem[] };

/** An open page that listens. */
export type Tab = {
  /** Path of its page; undefined if it shows that there is no page at its address. */
  page: string | undefined;
  /** Path and query of its address. */
  target: string;
  /** Digest of the page that it shows. */
  key: string;
  /** The page as it was shown last; undefined until it is rendered for this connection. */
  shown?: DevPage;
  /** The last problems that it was told, as JSON. */
  problems: string;
  send(message: TabMessage): void;
};

const aliveMs = 20_000;
const retryMs = 300;

/** The pages that are open in browsers, as streams of server-sent events. */
export function devTabs() {
  const open = new Map<Tab, ServerResponse>();
  const timer = setInterval(() => {
    for (const response of open.values()) response.write(':\n\n');
  }, aliveMs).unref();
  return {
    all: (): Tab[] => [...open.keys()],
    add(response: ServerResponse, about: Pick<Tab, 'page' | 'target' | 'key'>): Tab {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      response.write(`retry: ${retryMs}\n\n`);
      const tab: Tab = {
        ...{ ...about, problems: '[]' },
        send: (message) => void response.write(`data: ${JSON.stringify(message)}\n\n`),
      };
      open.set(tab, response);
      response.once('close', () => open.delete(tab));
      return tab;
    },
    close(): void {
      clearInterval(timer);
      for (const response of open.values()) response.end();
    },
  };
}

export type DevTabs = ReturnType<typeof devTabs>;
