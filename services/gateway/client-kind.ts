import type { IncomingHttpHeaders } from 'node:http';

/** `ui`: a chat of the AI SDK, whose validation refuses keys that others need; `plain`: everyone else. */
export type ClientKind = 'ui' | 'plain';

const stockMessageId = /^[0-9A-Za-z]{16}$/;

/**
 * Which kind of client sent a message, told by its body as it was parsed, before any schema reorders keys. Custom ids and proxies break
 * single signs, so any one suffices; the header `x-stream-finish` (`always` or `metadata`) decides without a guess. Pure.
 */
export function clientKind(body: unknown, headers: IncomingHttpHeaders): ClientKind {
  const wish = headers['x-stream-finish'];
  if (wish === 'always') return 'plain';
  if (wish === 'metadata') return 'ui';
  const agent = headers['user-agent'] ?? '';
  if (agent.startsWith('ai-sdk/') || agent.startsWith('ai/')) return 'ui';
  if (!isRecord(body)) return 'plain';
  if (body.trigger === 'submit-message' || body.trigger === 'regenerate-message') return 'ui';
  if (!Array.isArray(body.messages)) return 'plain';
  if (body.id !== undefined) return 'ui';
  return body.messages.some(isStockMessage) ? 'ui' : 'plain';
}

function isStockMessage(message: unknown): boolean {
  if (!isRecord(message)) return false;
  if (message.role === 'assistant') {
    const parts = Array.isArray(message.parts) ? message.parts.filter(isRecord) : [];
    const metadata = isRecord(message.metadata) ? message.metadata : {};
    return parts.some((part) => part.type === 'step-start' || 'state' in part) || metadata.threadId !== undefined;
  }
  if (message.role !== 'user') return false;
  const hasStockId = typeof message.id === 'string' && stockMessageId.test(message.id);
  return hasStockId && Object.keys(message)[0] === 'parts';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
