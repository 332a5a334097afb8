import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml } from '#shared/docs/render/html.ts';
import { securityHeaders } from './answer-file.ts';

/** Answers with a sentence as a page of its own. `again`: an address to try again at. What is left of a request's body is not waited for. */
export function answerSentence(
  response: ServerResponse,
  status: number,
  sentence: string,
  request: IncomingMessage,
  again?: string,
): void {
  const link = again === undefined ? '' : `<p><a href="${escapeHtml(again)}">Try again</a></p>\n`;
  const body = Buffer.from(
    `<!doctype html><meta charset="utf-8"><title>${status}</title><p>${escapeHtml(sentence)}</p>\n${link}`,
  );
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  response
    .writeHead(status, {
      ...securityHeaders,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-length': body.length,
      ...(hasBody && { connection: 'close' }),
    })
    .end(request.method === 'HEAD' ? undefined : body);
}
