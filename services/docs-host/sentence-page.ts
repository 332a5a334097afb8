import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml } from '#shared/docs/render/html.ts';
import { securityHeaders } from './answer-file.ts';

const style =
  ':root{color-scheme:light dark}body{box-sizing:border-box;max-width:36rem;margin:0 auto;padding:24vh 1.5rem 2rem;font:1rem/1.6 system-ui,sans-serif;text-align:center;overflow-wrap:anywhere}p{margin:0 0 1rem}.status{margin:0;font-size:.875rem;font-weight:600;opacity:.65}.sentence{font-size:1.25rem;line-height:1.5;font-weight:600;text-wrap:balance}a{display:inline-block;margin-top:.5rem;padding:.5rem 1.25rem;border:1px solid;border-radius:.6rem;font-weight:600;color:inherit;text-decoration:none}a:hover{text-decoration:underline}';
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`;

/** Answers with a page that has one sentence. `again`: an address for a link, and `words` for its text. The rest of a request's body is not read. */
export function answerSentence(
  response: ServerResponse,
  status: number,
  sentence: string,
  request: IncomingMessage,
  again?: string,
  words = 'Try again',
): void {
  const link = again === undefined ? '' : `<p><a href="${escapeHtml(again)}">${escapeHtml(words)}</a></p>\n`;
  const body = Buffer.from(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${status}</title><style>${style}</style>
<main><p class="status">${status}</p><p class="sentence">${escapeHtml(sentence)}</p>
${link}</main>\n`,
  );
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  response
    .writeHead(status, {
      ...securityHeaders,
      'content-security-policy': policy,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-length': body.length,
      ...(hasBody && { connection: 'close' }),
    })
    .end(request.method === 'HEAD' ? undefined : body);
}
