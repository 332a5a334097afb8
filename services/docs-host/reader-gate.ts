import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { EndedSessions, ReaderSession } from '#shared/login/ended-sessions.ts';
import { cookieIn, type Sealer } from '#shared/login/sealed-values.ts';
import { answerSentence } from './sentence-page.ts';

/** Answers a request that must not continue; else calls `letIn`, now or later. */
export type Gate = (request: IncomingMessage, response: ServerResponse, letIn: () => void) => void;

export const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?')[0] ?? '/';

/**
 * True unless a browser loads the address as a part of a page, or in advance. Browsers send the reader's cookies with such requests, and a picture, a
 * frame or a link of an author must not end the session.
 */
export function isOpened({ headers }: IncomingMessage): boolean {
  const { 'sec-fetch-dest': destination = 'document', 'sec-purpose': purpose } = headers;
  return purpose === undefined && (destination === 'document' || destination === 'empty');
}

/** Answers a request for the logout that is not `isOpened`. */
export function answerUnopened(request: IncomingMessage, response: ServerResponse, logoutPath: string): void {
  answerSentence(response, 403, 'Open this address to log out.', request, logoutPath, 'Log out');
}

/** Answers a request whose session may have ended, because the shared store cannot be reached. */
export function answerUnknown(request: IncomingMessage, response: ServerResponse, base: string): void {
  response.setHeader('retry-after', '10');
  answerSentence(response, 503, 'Your login cannot be checked now. Try again later.', request, `${base}/`);
}

/** The sessions of a site, in a sealed cookie. Requests for `ownPaths` count as without a session. */
type Sessions = {
  sessions: Sealer<ReaderSession>;
  cookie: string;
  ended: EndedSessions;
  base: string;
  ownPaths: readonly string[];
};

/** Lets requests with a session in, at once if it was opened and checked before. `stop` answers those without one. */
export function sessionGate(
  { sessions, cookie, ended, base, ownPaths }: Sessions,
  stop: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Gate {
  return (request, response, letIn) => {
    const sealed = ownPaths.includes(pathOf(request)) ? undefined : cookieIn(request, cookie);
    const known = sessions.known(sealed);
    if (known !== undefined && ended.known(known) === 'lasts') return letIn();
    const check = async (): Promise<void> => {
      const session = sealed === undefined ? undefined : await sessions.open(sealed);
      const state = session === undefined ? 'ended' : await ended.stateOf(session);
      if (request.socket.destroyed) return;
      if (state === 'lasts') letIn();
      else if (state === 'ended') await stop(request, response);
      else answerUnknown(request, response, base);
    };
    void check();
  };
}

/** Ends a session for all replicas of the host. False if that failed; then the failure has been answered, and the reader may retry at `logoutPath`. */
export async function endSession(
  session: ReaderSession,
  ended: EndedSessions,
  logger: Logger,
  request: IncomingMessage,
  response: ServerResponse,
  logoutPath: string,
): Promise<boolean> {
  try {
    await ended.end(session);
    return true;
  } catch (error) {
    logger.error(`a session could not be ended: ${messageOf(error)}`);
    answerSentence(response, 503, 'You could not be logged out everywhere. Try again.', request, logoutPath);
    return false;
  }
}
