import { createHmac } from 'node:crypto';
import type { ChatKey } from '#shared/messaging/answer-parts.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Ids of the AI SDK (16 characters), of nanoid and the like: capital and small letters in no order. */
const mixed = /^(?=.*[a-z])(?=.*[A-Z])[\w-]{16,200}$/;
/** Hexadecimal digits, ULID and CUID: twenty characters or more without separators, with some digits. */
const plain = /^(?=(.*\d){3})([0-9a-z]{20,200}|[0-9A-Z]{20,200})$/;

/** True if a chat's id has the form of random ids. A reader who has such an id may resume its answer. With any other id a reader also needs the fingerprint of the asker. Pure. */
export const isUnguessable = (chatId: string): boolean => uuid.test(chatId) || mixed.test(chatId) || plain.test(chatId);

const hexDigits = 32;

/**
 * The key of a chat. Undefined if its id is guessable and the reader's fingerprint is not known. The id of another organization, domain or, in the first
 * case, reader gives another key. Pure.
 */
export function chatKeyOf(
  hashKey: string,
  { organization, domain }: Omit<ChatKey, 'chat'>,
  chatId: string,
  fingerprint: string | undefined,
): ChatKey | undefined {
  const isBare = isUnguessable(chatId);
  if (!isBare && fingerprint === undefined) return undefined;
  const named = ['chat', organization, domain, chatId, ...(isBare ? [] : [fingerprint])];
  const hash = createHmac('sha256', hashKey).update(JSON.stringify(named)).digest('hex');
  return { organization, domain, chat: hash.slice(0, hexDigits) };
}
