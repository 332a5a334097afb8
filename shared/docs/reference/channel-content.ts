import type { Code, Nodes } from 'mdast';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { StaticNodes } from '#shared/docs/render/evaluate/static-tree.ts';
import type { InterfaceTexts } from '#shared/docs/render/interface-texts/interface-texts.ts';
import { madeExample } from './made-example.ts';
import { credentialOf, type Endpoint, entriesOf, lineOf, namedIn, resolved } from './open-slice.ts';
import { exampleFence } from './operation-examples.ts';
import { inWords } from './operations.ts';
import {
  addressList,
  code,
  element,
  endpointLine,
  heading,
  inlineOf,
  paragraph,
  strong,
  text,
} from './reference-nodes.ts';
import type { FieldUse, SchemaFields } from './schema-fields.ts';

const maxShownMessages = 60;
const maxExamples = 6;

/** Options of the page about a channel. `own` names the parameters and components that its author wrote. */
type ChannelOptions = {
  texts: InterfaceTexts;
  hasDescription: boolean;
  own: { parameters: ReadonlySet<string>; components: ReadonlySet<string> };
};

type Side = 'send' | 'receive';

/** Writes the content of a channel's page, from the slice that `sliceChannel` made. */
export class ChannelWriter {
  readonly #document: JsonObject;
  readonly #channel: JsonObject;
  readonly #fields: SchemaFields;
  readonly #options: ChannelOptions;
  readonly #texts: InterfaceTexts['reference'];
  readonly #examples: Record<Side, Code[]> = { send: [], receive: [] };
  readonly #ids = new Set<string>();

  constructor(document: JsonObject, channel: JsonObject, fields: SchemaFields, options: ChannelOptions) {
    this.#document = document;
    this.#channel = channel;
    this.#fields = fields;
    this.#options = options;
    this.#texts = options.texts.reference;
  }

  /** Nodes above and below the page's own content. */
  content(): { endpoint: Endpoint; above: Nodes[]; below: Nodes[] } {
    const { hasDescription, own } = this.#options;
    const description = textOf(this.#channel['description']) ?? textOf(this.#channel['summary']);
    const servers = objectsOf(this.#channel['servers']);
    const isInHead = hasDescription || lineOf(description) !== undefined;
    const below = [
      ...this.#servers(servers),
      ...this.#authorizations(servers),
      ...this.#parameters(),
      ...this.#messageSections(),
      ...this.#bindings(objectOf(this.#channel['bindings']), 'bindings'),
    ];
    const endpoint = this.#endpoint(servers);
    const examples = { RequestExample: this.#examples.send, ResponseExample: this.#examples.receive };
    for (const [name, fences] of Object.entries(examples))
      if (fences.length > 0 && !own.components.has(name)) below.push(element(name, {}, fences));
    return {
      endpoint,
      above: [endpointLine(endpoint), ...(isInHead ? [] : this.#fields.description(description, false))],
      below,
    };
  }

  #endpoint(servers: readonly JsonObject[]): Endpoint {
    const protocols = [...new Set(servers.flatMap(({ protocol }) => textOf(protocol)?.toUpperCase() ?? []))];
    const method = protocols.slice(0, 2).join(' / ').slice(0, 30) || 'CHANNEL';
    return { method, address: textOf(this.#channel['address']) ?? '' };
  }

  #servers(servers: readonly JsonObject[]): Nodes[] {
    const shown = servers.flatMap((server) => {
      const url = textOf(server['url']);
      const description = lineOf(server['description']) ?? textOf(server['summary']) ?? textOf(server['title']);
      return url === undefined ? [] : [{ url, description }];
    });
    return shown.length === 0 ? [] : [heading(this.#texts.servers, 'servers'), addressList(shown)];
  }

  #authorizations(servers: readonly JsonObject[]): Nodes[] {
    const shown = new Map<string, Nodes>();
    for (const carrier of [...servers, ...objectsOf(this.#channel['operations'])]) {
      const alternatives = objectsOf(carrier['security']);
      for (const { scheme, scopes } of alternatives) {
        const facts = resolved(this.#document, scheme).value;
        const { place, field, value } = channelCredential(facts);
        const key = `${place} ${field}`;
        if (shown.has(key) || this.#options.own.parameters.has(key)) continue;
        const description = [textOf(facts['description']) ?? '', value === undefined ? '' : `\`${field}: ${value}\``];
        const made = this.#fields.field(
          'ParamField',
          {
            name: field,
            id: `authorization-${field}`,
            schema: { type: 'string' },
            isRequired: alternatives.length === 1,
            description: description.filter((part) => part !== '').join('\n\n'),
          },
          'request',
        );
        const named = textsOf(scopes);
        if (named.length > 0)
          made.children.push(paragraph(...named.flatMap((scope, at) => [text(at === 0 ? '' : ', '), code(scope)])));
        made.props = new Map([...made.props, ['post', place === '' ? [] : [place]]]);
        delete made.alike;
        shown.set(key, made);
      }
    }
    return shown.size === 0 ? [] : [heading(this.#texts.authorizations, 'authorizations'), ...shown.values()];
  }

  /** Fields for the names in braces in the channel's address. */
  #parameters(): Nodes[] {
    const fields = namedIn(this.#channel['parameters']).flatMap(([name, written]) => {
      if (this.#options.own.parameters.has(`path ${name}`)) return [];
      const { value } = resolved(this.#document, written);
      const { schema, description, location: _, ...facts } = value;
      return [
        this.#fields.field(
          'ParamField',
          {
            name,
            id: `param-${name}`,
            schema: schema ?? { type: 'string', ...facts },
            isRequired: value['default'] === undefined,
            description: textOf(description),
          },
          'request',
        ),
      ];
    });
    return fields.length === 0 ? [] : [heading(this.#texts.pathParameters, 'path-parameters'), ...fields];
  }

  #messageSections(): Nodes[] {
    const operations = objectsOf(this.#channel['operations']);
    const of = (side: Side): JsonObject[] =>
      operations.filter(({ action }) => (action === 'send') === (side === 'receive'));
    const sections = (
      [
        ['send', this.#texts.messagesYouSend],
        ['receive', this.#texts.messagesYouReceive],
      ] as const
    ).flatMap(([side, title]) => {
      const some = of(side);
      if (some.length === 0) return [];
      return [
        heading(title, `${side}-messages`),
        ...some.flatMap((one) => this.#operation(one, side, some.length > 1)),
      ];
    });
    if (operations.length > 0) return sections;
    const messages = this.#messages(this.#channel['messages'], 'receive', 'message');
    return messages.length === 0 ? [] : [heading(this.#texts.messages, 'messages'), ...messages];
  }

  #operation(operation: JsonObject, side: Side, hasOthers: boolean): Nodes[] {
    const name = textOf(operation['name']) ?? '';
    const title = textOf(operation['title']) ?? (hasOthers ? inWords(name) : '');
    const { reply } = operation;
    const answers = isJsonObject(reply) ? this.#reply(reply, side === 'send' ? 'receive' : 'send', name) : [];
    return [
      ...(title === '' ? [] : [strong(title)]),
      ...this.#fields.description(textOf(operation['description']) ?? textOf(operation['summary']), true),
      ...this.#messages(operation['messages'], side, `${side}-${name}`),
      ...answers,
      ...this.#bindings(objectOf(operation['bindings']), `${side}-${name}-bindings`, 3),
    ];
  }

  #reply(reply: JsonObject, side: Side, name: string): Nodes[] {
    const address = textOf(reply['address']);
    return [
      paragraph(
        { type: 'strong', children: [{ type: 'text', value: this.#texts.reply }] },
        ...(address === undefined ? [] : [text(' '), code(address)]),
      ),
      ...this.#messages(reply['messages'], side, `${name}-reply`),
    ];
  }

  #messages(value: JsonValue | undefined, side: Side, prefix: string): Nodes[] {
    const messages = objectsOf(value).slice(0, maxShownMessages);
    const shown = messages.map((message, at) => this.#message(message, side, prefix, at === 0));
    return shown.length === 0 ? [] : [element('AccordionGroup', {}, shown)];
  }

  #message(message: JsonObject, side: Side, prefix: string, isOpen: boolean): Nodes {
    const name = textOf(message['name']) ?? 'message';
    const id = this.#claim(`${prefix}-${name}`);
    const title = textOf(message['title']) ?? name;
    const description = textOf(message['description']) ?? textOf(message['summary']);
    const line = lineOf(description);
    const use: FieldUse = side === 'send' ? 'request' : 'response';
    const { payload, format } = this.#payload(message);
    const isSchema = isSchemaFormat(format);
    if (isSchema) this.#collectExamples(message, payload, side, title);
    const contentType = textOf(message['contentType']);
    const headers = message['headers'];
    return element(
      'Accordion',
      {
        title: new StaticNodes([{ type: 'text', value: title }]),
        ...(line !== undefined && { description: new StaticNodes(inlineOf(this.#fields.description(line, true))) }),
        id,
        defaultOpen: isOpen,
      },
      [
        ...(line === undefined ? this.#fields.description(description, true) : []),
        ...(contentType === undefined ? [] : [paragraph(code(contentType))]),
        ...(headers === undefined
          ? []
          : [strong(this.#texts.headers), ...this.#fields.body(headers, `${id}-header`, use)]),
        ...(headers === undefined || payload === undefined ? [] : [strong(this.#texts.body)]),
        ...(payload === undefined
          ? []
          : isSchema
            ? this.#fields.body(payload, id, use, id)
            : [exampleFence('application/json', format ?? '', payload)]),
        ...this.#bindings(objectOf(message['bindings']), `${id}-bindings`, 3),
      ],
    );
  }

  /** The payload of a message and its schema format. In version 3 the format may be beside the schema. */
  #payload(message: JsonObject): { payload: JsonValue | undefined; format: string | undefined } {
    const { payload } = message;
    const { value } = resolved(this.#document, payload);
    const isWrapped = isJsonObject(value['schema']) && value['type'] === undefined && value['properties'] === undefined;
    return {
      payload: isWrapped ? value['schema'] : payload,
      format: textOf(isWrapped ? value['schemaFormat'] : message['schemaFormat']),
    };
  }

  #collectExamples(message: JsonObject, payload: JsonValue | undefined, side: Side, title: string): void {
    const fences = this.#examples[side];
    if (fences.length >= maxExamples) return;
    const written = objectsOf(message['examples']).find((example) => example['payload'] !== undefined);
    const value =
      written?.['payload'] ??
      (payload === undefined
        ? undefined
        : madeExample(this.#document, payload, side === 'send' ? 'request' : 'response', {}, () => {}));
    if (value === undefined) return;
    const fence = exampleFence(textOf(message['contentType']) ?? 'application/json', title, value);
    if (!fences.some((other) => other.meta === fence.meta && other.value === fence.value)) fences.push(fence);
  }

  /** Protocol-specific settings: each value is a field. */
  #bindings(bindings: JsonObject, id: string, depth: 2 | 3 = 2): Nodes[] {
    const shown = entriesOf(bindings).flatMap(([protocol, binding]) => {
      const { value } = resolved(this.#document, binding);
      const facts = entriesOf(value).filter(([key]) => key !== 'bindingVersion');
      if (facts.length === 0) return [];
      const fields = facts.map(([name, fact]) =>
        this.#fields.field(
          'ResponseField',
          { name, id: `${id}-${protocol}-${name}`, schema: asSchema(fact), isRequired: false },
          'schema',
        ),
      );
      return [element('Accordion', { title: protocol, id: this.#claim(`${id}-${protocol}`) }, fields)];
    });
    if (shown.length === 0) return [];
    const group = element('AccordionGroup', {}, shown);
    return depth === 2 ? [heading(this.#texts.bindings, id), group] : [strong(this.#texts.bindings), group];
  }

  #claim(wanted: string): string {
    let free = wanted;
    for (let count = 2; this.#ids.has(free); count += 1) free = `${wanted}-${count}`;
    this.#ids.add(free);
    return free;
  }
}

/** True if a payload is a schema like those of OpenAPI: it has no format, or one of these. */
const isSchemaFormat = (format: string | undefined): boolean =>
  format === undefined || /aai\.asyncapi|schema\+(?:json|yaml)|oai\.openapi/.test(format);

/** A value that is not a schema becomes a field with only this value. */
const asSchema = (value: JsonValue): JsonValue =>
  isJsonObject(value) && ['type', '$ref', 'properties', 'oneOf', 'anyOf', 'allOf', 'enum'].some((key) => key in value)
    ? value
    : { const: value };

/** Place and form of a credential for a broker, which is not a header. */
function channelCredential(scheme: JsonObject): { place: string; field: string; value: string | undefined } {
  const type = textOf(scheme['type']) ?? '';
  if (type === 'httpApiKey') return credentialOf({ ...scheme, type: 'apiKey' });
  if (type === 'http' || type === 'oauth2' || type === 'openIdConnect') return credentialOf(scheme);
  if (type === 'apiKey') return { place: textOf(scheme['in']) ?? '', field: 'apiKey', value: undefined };
  return { place: '', field: type === '' ? 'credential' : type, value: undefined };
}
