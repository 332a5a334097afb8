import type { IncomingMessage, ServerResponse } from 'node:http';
import { securityHeaders } from './answer-file.ts';
import { answerSentence } from './sentence-page.ts';

const versioned = /^\/_bindery\/@([0-9a-f]{16})\/widget\.js$/;

const pathBelow = (url: string, base: string): string | undefined => {
  const [path = ''] = url.split('?');
  return path.startsWith(`${base}/_bindery/`) ? path.slice(base.length) : undefined;
};

/** True for an address of the widget's script, below the path of the site. Pure. */
export function isWidget(url: string, base: string): boolean {
  const path = pathBelow(url, base);
  return path !== undefined && (path === '/_bindery/widget.js' || versioned.test(path));
}

/** Answers with the script of this host's version, which pages of all sites may load. */
export async function answerWidget(request: IncomingMessage, response: ServerResponse, base: string): Promise<void> {
  // The parts of the script, and what draws its icons, are loaded for the first page that asks.
  const { widgetAnswer } = await import('#shared/docs/render/site/widget-answer.ts');
  const { 'accept-encoding': acceptEncoding, 'if-none-match': ifNoneMatch } = request.headers;
  const digest = versioned.exec(pathBelow(request.url ?? '', base) ?? '')?.[1];
  const answer = await widgetAnswer({ acceptEncoding, ifNoneMatch }, digest, base);
  if (answer === undefined)
    return answerSentence(
      response,
      404,
      'This host has another version of the script. See _bindery/widget.js.',
      request,
    );
  const { status, headers, body } = answer;
  response.writeHead(status, {
    ...securityHeaders,
    ...headers,
    ...(status === 200 && { 'content-length': body.length }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
