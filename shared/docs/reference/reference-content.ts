import type { Nodes, Root } from 'mdast';
import { isJsonObject, type JsonObject, type JsonValue, objectOf, textOf } from '#shared/docs/project/json-values.ts';
import type { ParseOptions } from '#shared/docs/project/parse-page.ts';
import type { Report } from '#shared/docs/render/findings.ts';
import { type StaticElement, StaticNodes } from '#shared/docs/render/evaluate/static-tree.ts';
import type { InterfaceTexts } from '#shared/docs/render/interface-texts/interface-texts.ts';
import type { PlaygroundForm } from '#shared/docs/render/site/playground-form.ts';
import { namedExamples } from './example-value.ts';
import { madeExample } from './made-example.ts';
import type { Direction } from './schema-fits.ts';
import {
  credentialOf,
  type Endpoint,
  entriesOf,
  lineOf,
  namedIn,
  openSlice,
  type OpenSlice,
  parametersOf,
  resolved,
  securityOf,
  serversOf,
} from './open-slice.ts';
import { isClosedWithin } from './closed-parts.ts';
import { credentialText, flowAddresses, scopeNodes, waysIn } from './authorization-nodes.ts';
import { withPartTypes } from './form-parts.ts';
import { operationForm } from './operation-form.ts';
import { exampleFence, type Missing, requestFences, responseFences } from './operation-examples.ts';
import { ChannelWriter } from './channel-content.ts';
import { methods, type Operation } from './operations.ts';
import type { PageReferenceInput } from './page-reference.ts';
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
import { type FieldInput, SchemaFields } from './schema-fields.ts';
import { writtenSlice } from './written-operation.ts';

export type ReferenceOptions = Omit<PageReferenceInput, 'path'> & {
  texts: InterfaceTexts;
  /** True if the page has a description of its own. */
  hasDescription: boolean;
  parser: ParseOptions['parser'];
  /** True if readers can send requests from the page. */
  withForm?: boolean;
  report?: Report;
};

/**
 * Adds generated content to a page, from its slice of a specification or else from the operation that it describes itself: below the page's own
 * content, and examples beside it. The page's own parameters, response fields and examples take precedence. A slice that cannot be read adds nothing.
 */
export function withReference<Page extends { tree: Root }>(
  page: Page,
  sliceText: string | undefined,
  options: ReferenceOptions,
): Page & { added?: AddedNodes; form?: PlaygroundForm } {
  const { tree } = page;
  const { written } = options;
  const slice = sliceText === undefined ? written && writtenSlice(tree, written) : openSlice(sliceText);
  if (slice === undefined) return page;
  const own = ownContent(tree);
  const writer = new ReferenceWriter(slice, options, own);
  const added = writer.content();
  const children = [...added.above, ...tree.children, ...added.below] as Root['children'];
  const form = options.withForm === true && slice.operation ? operationForm(slice, slice.operation) : undefined;
  return { ...page, tree: { ...tree, children }, added, ...(form && { form }) };
}

/** An author's content about an operation on its page. */
type OwnContent = { parameters: ReadonlySet<string>; components: ReadonlySet<string> };

const places = ['path', 'query', 'header', 'cookie', 'body'] as const;

function ownContent(page: Root): OwnContent {
  const parameters = new Set<string>();
  const components = new Set<string>();
  const pending: Nodes[] = [...page.children];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === 'staticElement') {
      components.add(node.name);
      for (const place of places) {
        const name = node.props.get(place);
        if (node.name.startsWith('Param') && typeof name === 'string') parameters.add(`${place} ${name}`);
      }
    }
    if ('children' in node) pending.push(...node.children);
  }
  return { parameters, components };
}

/** Generated nodes around the page's own content. */
export type AddedNodes = { above: Nodes[]; below: Nodes[]; endpoint?: Endpoint };

const maxResponses = 30;
const maxCallbacks = 10;
const maxParameters = 300;
const maxHeaders = 100;

class ReferenceWriter {
  readonly #slice: OpenSlice;
  readonly #document: JsonObject;
  readonly #options: ReferenceOptions;
  readonly #texts: InterfaceTexts['reference'];
  readonly #own: OwnContent;
  readonly #fields: SchemaFields;
  /** Ids of the headers that are already on the page. */
  readonly #headersAt = new Map<string, string>();

  constructor(slice: OpenSlice, options: ReferenceOptions, own: OwnContent) {
    this.#slice = slice;
    this.#document = slice.document;
    this.#options = options;
    this.#texts = options.texts.reference;
    this.#own = own;
    this.#fields = new SchemaFields(slice, options);
  }

  content(): AddedNodes {
    const { operation, channel } = this.#slice;
    if (operation !== undefined) return this.#operation(operation);
    if (channel === undefined) return this.#schema();
    const options = { ...this.#options, own: this.#own };
    return new ChannelWriter(this.#document, channel, this.#fields, options).content();
  }

  #schema(): AddedNodes {
    const schema = this.#slice.schema ?? {};
    const example = madeExample(this.#document, schema, 'response', {}, () => {});
    const title = this.#texts.example.replace(/\s*[:：]\s*$/u, '');
    const examples = example === undefined ? [] : [exampleFence('application/json', title, example)];
    const isOwn = this.#own.components.has('ResponseExample');
    const { description } = resolved(this.#document, schema).value;
    const isInHead = !this.#options.hasDescription && lineOf(description) !== undefined;
    return {
      above: [],
      below: [
        ...this.#fields.body(schema, 'schema', 'schema', undefined, isInHead),
        ...(isOwn || examples.length === 0 ? [] : [element('ResponseExample', {}, examples)]),
      ],
    };
  }

  #operation(operation: Operation): AddedNodes {
    const { written } = operation;
    const description = textOf(written['description']);
    const isHead = lineOf(description) !== undefined;
    const parameters = parametersOf(this.#slice, operation).slice(0, maxParameters);
    const { kind, method, path } = operation;
    const isCalled = kind === 'operation';
    const whole = isCalled ? (serversOf(this.#slice)[0]?.url ?? '') + path : path;
    const endpoint = {
      method: isCalled ? method : 'WEBHOOK',
      // An operation at the server's own address has no path.
      address: this.#options.isFullUrl === true || path === '' ? whole : path,
    };
    const isShown = !this.#options.hasDescription && !isHead;
    return {
      endpoint,
      above: [
        endpointLine({ ...endpoint, address: whole }),
        ...(isShown ? this.#fields.description(description, false) : []),
      ],
      below: [
        ...this.#externalDocs(written),
        ...this.#servers(),
        ...this.#authorizations(written),
        ...this.#parameterSections(parameters),
        ...this.#body(written, 'body'),
        ...this.#responses(written, 'response', 2),
        ...this.#callbacks(written),
        ...this.#examples(operation, parameters),
      ],
    };
  }

  #externalDocs(written: JsonObject): Nodes[] {
    const { url, description } = objectOf(written['externalDocs']);
    const href = textOf(url);
    if (href === undefined) return [];
    return [paragraph({ type: 'link', url: href, children: [{ type: 'text', value: textOf(description) ?? href }] })];
  }

  /** A list of the servers, if there are several. A single server is already in the address of the examples. */
  #servers(): Nodes[] {
    const servers = serversOf(this.#slice).slice(0, 20);
    if (servers.length < 2) return [];
    return [heading(this.#texts.servers, 'servers'), addressList(servers)];
  }

  #authorizations(written: JsonObject): Nodes[] {
    const all = securityOf(this.#slice, written);
    const alternatives = all.filter((schemes) => schemes.length > 0);
    const shown = new Map<string, StaticElement>();
    for (const each of alternatives.flat()) {
      const { name, scheme, scopes } = each;
      const { place, field, value } = credentialOf(scheme);
      if (shown.has(name) || this.#own.parameters.has(`${place} ${field}`)) continue;
      const description = [
        textOf(scheme['description']) ?? '',
        value === undefined ? '' : `\`${credentialText(each, alternatives)}\``,
      ];
      const input: FieldInput = {
        name: field,
        id: `authorization-${field}`,
        schema: { type: 'string' },
        isRequired: all.every((schemes) => schemes.some((each) => each.name === name)),
        description: description.filter((part) => part !== '').join('\n\n'),
      };
      const { alike: _, id, props, children, ...made } = this.#fields.field('ParamField', input, 'request');
      shown.set(name, {
        ...made,
        props: new Map([...props, ['id', id ?? input.id], ['post', [place]]]),
        children: [...children, ...flowAddresses(scheme), ...scopeNodes(scheme, scopes)],
      });
    }
    if (shown.size === 0) return [];
    const orNone = alternatives.length < all.length ? this.#texts.orNone : undefined;
    const ways = all.length > 1 ? [waysIn(this.#texts.oneOf, alternatives, orNone)] : [];
    return [heading(this.#texts.authorizations, 'authorizations'), ...ways, ...shown.values()];
  }

  #parameterSections(parameters: JsonObject[]): Nodes[] {
    const titles = {
      path: this.#texts.pathParameters,
      query: this.#texts.queryParameters,
      header: this.#texts.headers,
      cookie: this.#texts.cookies,
    };
    return Object.entries(titles).flatMap(([place, title]) => {
      const shown = parameters.flatMap((parameter) => {
        const name = textOf(parameter['name']) ?? '';
        if (textOf(parameter['in']) !== place || this.#own.parameters.has(`${place} ${name}`)) return [];
        return [this.#parameter(parameter, name, place)];
      });
      return shown.length === 0 ? [] : [heading(title, `${place}-parameters`), ...shown];
    });
  }

  #parameter(parameter: JsonObject, name: string, place: string): StaticElement {
    const media = objectOf(Object.values(objectOf(parameter['content']))[0]);
    const schema = parameter['schema'] ?? media['schema'];
    return this.#fields.field(
      'ParamField',
      {
        name,
        id: place === 'path' || place === 'query' ? `param-${name}` : `${place}-${name}`,
        schema,
        isRequired: parameter['required'] === true || place === 'path',
        isDeprecated: parameter['deprecated'] === true,
        description: textOf(parameter['description']),
        example: parameter['example'] ?? namedExamples(this.#document, parameter)[0]?.[1],
      },
      'request',
    );
  }

  #body(written: JsonObject, id: string): Nodes[] {
    const body = resolved(this.#document, written['requestBody']).value;
    const media = entriesOf(body['content']);
    if (media.length === 0 || this.#own.components.has('Body')) return [];
    if ([...this.#own.parameters].some((name) => name.startsWith('body '))) return [];
    const required = body['required'] === true ? [text(' '), code(this.#options.texts.required)] : [];
    return [
      heading(this.#texts.body, 'request-body'),
      ...this.#fields.description(textOf(body['description']), true),
      ...this.#media(media, id, 'request', required),
    ];
  }

  /** The fields of a body, with a tab for each media type if there are several that differ. */
  #media(media: [string, JsonValue][], id: string, use: Direction, marks: Nodes[]): Nodes[] {
    const anchor = id === 'body' ? 'request-body' : id.startsWith('response-') ? id : undefined;
    const fields = (schema: JsonValue | undefined, own: string): Nodes[] =>
      schema === undefined ? [] : this.#fields.body(schema, own, use, anchor);
    const groups = new Map<string, { types: string[]; schema: JsonValue | undefined }>();
    for (const [type, content] of media) {
      const facts = resolved(this.#document, content).value;
      // A stream has `itemSchema`, the schema of each event or line, since OpenAPI 3.2.
      const schema = withPartTypes(this.#document, type, facts) ?? facts['itemSchema'];
      const key = JSON.stringify(schema) ?? '';
      const group = groups.get(key) ?? { types: [], schema };
      group.types.push(type);
      groups.set(key, group);
    }
    const [only, ...others] = groups.values();
    if (only === undefined) return [];
    if (others.length === 0) {
      const types = only.types.flatMap((type, at) => (at === 0 ? [code(type)] : [text(', '), code(type)]));
      return [paragraph(...types, ...marks), ...fields(only.schema, id)];
    }
    const tabs = [only, ...others].map(({ types, schema }, at) =>
      element(
        'Tab',
        { title: types.join(', '), id: `${id}-${types[0]}` },
        fields(schema, at === 0 ? id : `${id}-${at + 1}`),
      ),
    );
    return [...(marks.length > 0 ? [paragraph(...marks.slice(1))] : []), element('Tabs', { sync: false }, tabs)];
  }

  #responses(written: JsonObject, id: string, depth: 2 | 3): Nodes[] {
    const responses = entriesOf(written['responses']).slice(0, maxResponses);
    if (responses.length === 0 || this.#own.components.has('ResponseField')) return [];
    const isFirst = responses.findIndex(([status]) => status.startsWith('2'));
    const shown = responses.map(([status, response], at) => {
      const { value } = resolved(this.#document, response);
      const own = `${id}-${status}`;
      const media = entriesOf(value['content']);
      const description = textOf(value['description']);
      const line = lineOf(description);
      return element(
        'Accordion',
        {
          title: new StaticNodes([{ type: 'inlineCode', value: status }]),
          ...(line !== undefined && { description: new StaticNodes(inlineOf(this.#fields.description(line, true))) }),
          id: own,
          defaultOpen: at === Math.max(0, isFirst),
        },
        [
          ...(line === undefined ? this.#fields.description(description, true) : []),
          ...this.#headers(value['headers'], own),
          ...this.#media(media, own, 'response', []),
        ],
      );
    });
    return [heading(this.#texts.responses, 'responses', depth), element('AccordionGroup', {}, shown)];
  }

  /** Headers that are already shown at another response become links. */
  #headers(written: JsonValue | undefined, prefix: string): Nodes[] {
    const fields: Nodes[] = [];
    const links: Nodes[] = [];
    for (const [name, header] of namedIn(written).slice(0, maxHeaders)) {
      const { value: facts } = resolved(this.#document, header);
      const key = `${name} ${JSON.stringify(header)}`;
      const place = this.#headersAt.get(key);
      if (place === undefined) {
        const id = `${prefix}-header-${name}`;
        this.#headersAt.set(key, id);
        fields.push(this.#parameterOf(facts, name, id));
      } else {
        if (links.length > 0) links.push(text(', '));
        links.push({ type: 'link', url: `#${place}`, children: [code(name)] });
      }
    }
    if (fields.length === 0 && links.length === 0) return [];
    return [strong(this.#texts.headers), ...(links.length === 0 ? [] : [paragraph(...links)]), ...fields];
  }

  #parameterOf(facts: JsonObject, name: string, id: string): StaticElement {
    return this.#fields.field(
      'ResponseField',
      {
        name,
        id,
        schema: facts['schema'],
        isRequired: facts['required'] === true,
        isDeprecated: facts['deprecated'] === true,
        description: textOf(facts['description']),
        example: facts['example'],
      },
      'response',
    );
  }

  /** Requests that the server makes, each with its address, body and accepted responses. */
  #callbacks(written: JsonObject): Nodes[] {
    const callbacks = entriesOf(written['callbacks']).slice(0, maxCallbacks);
    const shown = callbacks.flatMap(([name, callback]) => {
      const expressions = entriesOf(resolved(this.#document, callback).value).slice(0, maxCallbacks);
      return expressions.flatMap(([expression, item]) => {
        const { value } = resolved(this.#document, item);
        return methods.flatMap((method) => {
          const called = value[method];
          if (!isJsonObject(called) || isClosedWithin(value, written) || isClosedWithin(called, written)) return [];
          const id = `callback-${name}`;
          const title = new StaticNodes([{ type: 'text', value: name }]);
          return [
            element('Accordion', { title, id }, [
              paragraph(code(`${method.toUpperCase()} ${expression}`)),
              ...this.#fields.description(textOf(called['description']) ?? textOf(called['summary']), true),
              ...this.#body(called, `${id}-body`).slice(1),
              ...this.#responses(called, `${id}-response`, 3).slice(1),
            ]),
          ];
        });
      });
    });
    return shown.length === 0
      ? []
      : [heading(this.#texts.callbacks, 'callbacks'), element('AccordionGroup', {}, shown)];
  }

  #examples(operation: Operation, parameters: JsonObject[]): Nodes[] {
    const missing: Missing = (where, kind) => {
      const place = `${where} of ${operation.method} ${operation.path}`;
      this.#options.report?.(
        'example-not-made',
        kind === 'none'
          ? `No example that its schema allows could be made for ${place}. Write one in the description, or check whether the schema allows any value.`
          : `The example of ${place} fits several options of a "oneOf", which wants exactly one. Use "anyOf", or make the options differ, such as by a required property with one allowed value.`,
      );
    };
    const shown = {
      RequestExample: () => requestFences(this.#slice, operation, parameters, this.#options.examples, missing),
      ResponseExample: () => responseFences(this.#slice, operation, missing),
    };
    return Object.entries(shown).flatMap(([name, make]) => {
      const fences = this.#own.components.has(name) ? [] : make();
      return fences.length === 0 ? [] : [element(name, {}, fences)];
    });
  }
}
