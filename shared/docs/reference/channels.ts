import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { isClosedWithin } from './closed-parts.ts';
import { nameOfReference, resolved } from './open-slice.ts';
import { longestTitle, metadataOf } from './operations.ts';

/** A channel of an AsyncAPI description of version 2 or 3, in one form for both. Values are as written, including references. */
export type Channel = {
  /** Key in the description, by which authors name it. */
  name: string;
  /** Address of the messages; if absent, the name. */
  address: string;
  title: string;
  isHidden: boolean;
  isExcluded: boolean;
  isDeprecated: boolean;
  written: JsonObject;
  servers: ChannelServer[];
  operations: ChannelOperation[];
  /** All messages of version 3, including those without an operation. */
  messages: NamedMessage[];
};

type ChannelServer = { name: string; url: string; written: JsonObject };

/** An operation of a channel. `action` is the action of the described application; a reader of the page does the opposite. */
type ChannelOperation = {
  action: 'send' | 'receive';
  name: string;
  written: JsonObject;
  messages: NamedMessage[];
  reply?: { address: string | undefined; messages: NamedMessage[] };
};

type NamedMessage = { name: string; written: JsonObject };

const maxChannels = 5_000;
const maxMessages = 200;
const maxTraits = 50;

/** All channels in the order of the file, at most 5,000. */
export function channelsOf(document: JsonObject): Channel[] {
  const isOld = textOf(document['asyncapi'])?.startsWith('2') === true;
  const operations = isOld ? undefined : operationsByChannel(document);
  return Object.entries(objectOf(document['channels']))
    .slice(0, maxChannels)
    .map(([name, item]): Channel => {
      const { value: written } = resolved(document, item);
      const isMarked = (key: string): boolean => written[key] === true;
      return {
        name,
        address: isOld ? name : (textOf(written['address']) ?? name),
        title: (textOf(metadataOf(written)['title']) ?? textOf(written['title']) ?? name)
          .slice(0, longestTitle)
          .toWellFormed(),
        isHidden: isMarked('x-hidden'),
        isExcluded: isMarked('x-excluded'),
        isDeprecated: isMarked('deprecated'),
        written,
        servers: serversOfChannel(document, written),
        operations: isOld ? oldOperations(document, written) : (operations?.get(name) ?? []),
        messages: isOld ? [] : messagesOf(document, written['messages']),
      };
    });
}

/** The channel with this key or address. */
export function findChannel(channels: readonly Channel[], named: string): Channel | undefined {
  const plain = (name: string): string => name.replace(/^\/+/, '');
  return (
    channels.find(({ name }) => name === named) ??
    channels.find(({ address }) => address === named) ??
    channels.find(({ name, address }) => plain(name) === plain(named) || plain(address) === plain(named))
  );
}

/** Version 2 describes the actions of clients: they publish the messages that the application receives. */
function oldOperations(document: JsonObject, channel: JsonObject): ChannelOperation[] {
  return (
    [
      ['publish', 'receive'],
      ['subscribe', 'send'],
    ] as const
  ).flatMap(([key, action]): ChannelOperation[] => {
    if (channel[key] === undefined) return [];
    const written = withTraits(document, channel[key]);
    if (isClosedWithin(written, channel)) return [];
    const { message } = written;
    const { oneOf } = objectOf(message);
    const listed = Array.isArray(oneOf) ? oneOf : message === undefined ? [] : [message];
    const name = textOf(written['operationId']) ?? '';
    return [{ action, name, written, messages: messagesOf(document, listed) }];
  });
}

function operationsByChannel(document: JsonObject): Map<string, ChannelOperation[]> {
  const byName = new Map<string, ChannelOperation[]>();
  for (const [name, item] of Object.entries(objectOf(document['operations'])).slice(0, maxChannels)) {
    const written = withTraits(document, item);
    const channel = channelName(written['channel']);
    const { value: whole } = resolved(document, written['channel']);
    if (channel === undefined || isClosedWithin(written, whole)) continue;
    const reply = replyOf(document, written['reply'], whole);
    const made: ChannelOperation = {
      action: written['action'] === 'send' ? 'send' : 'receive',
      name,
      written,
      messages: messagesOf(document, written['messages'] ?? whole['messages']),
      ...(reply !== undefined && { reply }),
    };
    const known = byName.get(channel) ?? [];
    known.push(made);
    byName.set(channel, known);
  }
  return byName;
}

/** The reply to an operation of the channel `asked`; undefined if it has none, or one in a channel that not all readers of `asked` may see. */
function replyOf(document: JsonObject, written: JsonValue | undefined, asked: JsonObject): ChannelOperation['reply'] {
  if (written === undefined) return undefined;
  const { value: reply } = resolved(document, written);
  const { value: channel } = resolved(document, reply['channel']);
  if (isClosedWithin(channel, asked)) return undefined;
  const { value: address } = resolved(document, reply['address']);
  return {
    address: textOf(channel['address']) ?? channelName(reply['channel']) ?? textOf(address['location']),
    messages: messagesOf(document, reply['messages'] ?? channel['messages']),
  };
}

function channelName(value: JsonValue | undefined): string | undefined {
  const reference = objectOf(value)['$ref'];
  return typeof reference === 'string' && reference.startsWith('#/channels/')
    ? nameOfReference(reference).replaceAll('~1', '/').replaceAll('~0', '~')
    : undefined;
}

/** Messages of a list, or of an object keyed by name. */
function messagesOf(document: JsonObject, value: JsonValue | undefined): NamedMessage[] {
  const entries = Array.isArray(value)
    ? value.map((item): [string, JsonValue] => ['', item])
    : Object.entries(objectOf(value));
  return entries.slice(0, maxMessages).map(([key, item], at) => {
    const reference = objectOf(item)['$ref'];
    const written = withTraits(document, item);
    const own = textOf(written['name']) ?? textOf(written['messageId']) ?? '';
    const named = key || (typeof reference === 'string' ? nameOfReference(reference) : own) || `message-${at + 1}`;
    return { name: named, written };
  });
}

const traited = new WeakMap<JsonObject, Map<string, JsonObject>>();

/** An operation or message merged over its traits. The result is cached, because many channels may refer to one message. */
function withTraits(document: JsonObject, value: JsonValue | undefined): JsonObject {
  const { value: own } = resolved(document, value);
  const reference = objectOf(value)['$ref'];
  if (!Array.isArray(own['traits'])) return own;
  if (typeof reference !== 'string' || Object.keys(objectOf(value)).length > 1) return putTogether(document, own);
  const known = traited.get(document) ?? new Map<string, JsonObject>();
  traited.set(document, known);
  const made = known.get(reference) ?? putTogether(document, own);
  known.set(reference, made);
  return made;
}

function putTogether(document: JsonObject, { traits, ...written }: JsonObject): JsonObject {
  const made: JsonObject = {};
  for (const trait of (Array.isArray(traits) ? traits : []).slice(0, maxTraits))
    Object.assign(made, resolved(document, trait).value);
  for (const [key, item] of Object.entries(written)) {
    const below = resolved(document, made[key]).value;
    // Headers of a trait are added to those of the message.
    if (key === 'headers' && isJsonObject(item) && made[key] !== undefined) made[key] = { allOf: [item, below] };
    else if (key === 'bindings' && isJsonObject(item)) made[key] = { ...below, ...item };
    else made[key] = item;
  }
  return made;
}

/** Servers that a channel names, or all of the description. */
function serversOfChannel(document: JsonObject, channel: JsonObject): ChannelServer[] {
  const all = Object.entries(objectOf(document['servers']));
  const { servers } = channel;
  const wanted = new Set([
    ...textsOf(servers),
    ...objectsOf(servers).flatMap(({ $ref }) => (typeof $ref === 'string' ? [nameOfReference($ref)] : [])),
  ]);
  return all
    .filter(([name]) => wanted.size === 0 || wanted.has(name))
    .slice(0, 20)
    .map(([name, item]) => {
      const { value: written } = resolved(document, item);
      return { name, url: urlOf(document, written), written };
    });
}

/** Address such as `wss://example.com/path`, with variables at their defaults. */
function urlOf(document: JsonObject, server: JsonObject): string {
  const protocol = textOf(server['protocol']) ?? '';
  const address = textOf(server['url']) ?? `${textOf(server['host']) ?? ''}${textOf(server['pathname']) ?? ''}`;
  const variables = objectOf(server['variables']);
  const filled = address.replaceAll(/\{([^{}]{1,100})\}/g, (braces, name: string) => {
    if (!Object.hasOwn(variables, name)) return braces;
    const { default: fallback, enum: values } = resolved(document, variables[name]).value;
    return textOf(fallback) ?? textsOf(values)[0] ?? braces;
  });
  return filled.includes('://') || protocol === '' ? filled : `${protocol}://${filled}`;
}
