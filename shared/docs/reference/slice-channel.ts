import { type JsonObject, type JsonValue, objectOf, objectsOf, textsOf } from '#shared/docs/project/json-values.ts';
import type { Channel } from './channels.ts';
import { resolved } from './open-slice.ts';
import { type OperationSlice, Slicer } from './slice-operation.ts';

const messageKeys = [
  'title',
  'summary',
  'description',
  'deprecated',
  'contentType',
  'schemaFormat',
  'headers',
  'payload',
  'examples',
  'bindings',
  'externalDocs',
] as const;

/** Makes the part of an AsyncAPI description for the page of a channel. It has the same form for versions 2 and 3. */
export function sliceChannel(document: JsonObject, channel: Channel): OperationSlice {
  const slicer = new Slicer(document);
  const { name, address, title, written, servers, operations, messages } = channel;
  const some = (value: JsonObject, keys: readonly string[]): JsonObject => {
    const shown = keys.flatMap((key): [string, JsonValue][] => {
      const item = value[key];
      return item === undefined ? [] : [[key, slicer.copy(item)]];
    });
    return Object.fromEntries(shown);
  };
  const list = (all: Channel['messages']): JsonObject[] =>
    all.map((message) => ({ name: message.name, ...some(message.written, messageKeys) }));
  const security = (value: JsonObject): JsonValue =>
    securityOf(document, value['security']).map((one) => slicer.copy(one));
  const made: JsonObject = {
    name,
    address,
    title,
    ...some(written, ['summary', 'description', 'deprecated', 'externalDocs', 'parameters', 'bindings']),
    servers: servers.map((server) => ({
      name: server.name,
      url: server.url,
      security: security(server.written),
      ...some(server.written, ['protocol', 'title', 'summary', 'description', 'bindings']),
    })),
    operations: operations.map((operation) => ({
      action: operation.action,
      name: operation.name,
      security: security(operation.written),
      ...some(operation.written, ['title', 'summary', 'description', 'deprecated', 'bindings']),
      messages: list(operation.messages),
      ...(operation.reply && {
        reply: { address: operation.reply.address ?? '', messages: list(operation.reply.messages) },
      }),
    })),
    ...(operations.length === 0 && { messages: list(messages) }),
  };
  return slicer.document({ asyncapi: '3.0.0' }, { 'x-bindery-channel': made });
}

/** Alternative schemes for a client, each as `{ name, scheme, scopes }`. Version 2 names them, version 3 refers to them. */
function securityOf(document: JsonObject, value: JsonValue | undefined): JsonObject[] {
  const schemes = objectOf(objectOf(document['components'])['securitySchemes']);
  return objectsOf(value).flatMap((item): JsonObject[] => {
    const { $ref: reference } = item;
    const { value: scheme } = resolved(document, item);
    if (typeof reference === 'string' || typeof scheme['type'] === 'string')
      return [{ name: '', scheme, scopes: textsOf(scheme['scopes']) }];
    return Object.entries(item).flatMap(([name, scopes]) =>
      Object.hasOwn(schemes, name)
        ? [{ name, scheme: resolved(document, schemes[name]).value, scopes: textsOf(scopes) }]
        : [],
    );
  });
}
