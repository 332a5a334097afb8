import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { type JsonSchema, type OpenApiDocument, type Operation, resolved } from '../openapi.ts';
import { curlExample } from './curl-example.ts';
import { gatewayPage, type GatewayPage } from './page-shell.ts';

/** The description as a readable page: every route with its key, fields, examples, answers and errors. Pure. */
export function referencePage(document: OpenApiDocument): GatewayPage {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = document.tags.flatMap((tag) => {
    const ofTag = operations.filter(({ operation }) => operation.tags.includes(tag.name));
    return ofTag.length === 0 ? [] : [{ ...tag, operations: ofTag }];
  });
  const fields = (schema: JsonSchema) => fieldsOf(schema, document.components.schemas);
  return gatewayPage(
    'HTTP interface · Bindery',
    html`<div class="with-contents">
<nav aria-label="Routes"><p><a href="/">Bindery</a></p>${groups.map(
      (group) =>
        html`<strong>${group.name}</strong><ul>${group.operations.map(
          ({ operation }) => html`<li><a href="#${operation.operationId}">${operation.operationId}</a></li>`,
        )}</ul>`,
    )}</nav>
<main id="content">
<h1>HTTP interface</h1>
<p class="lead">Every route of this installation. Programs read the same as OpenAPI 3.1 at <a href="/openapi.json">/openapi.json</a>.</p>
<p>A key is sent as <code>Authorization: Bearer &lt;key&gt;</code>. Every error is a JSON object with <code>error</code>, a sentence,
<code>code</code> and <code>requestId</code>; wrong fields are listed in <code>fields</code>.</p>
<p>The examples run in a shell where <code>BASE</code> is the address of this server, and <code>KEY</code>, <code>ASSISTANT_KEY</code> or
<code>OPERATOR_TOKEN</code> is yours.</p>
${groups.map(
  (group) => html`<h2>${group.name}</h2><p class="muted">${group.description}</p>
${group.operations.map(({ method, path, operation }) => section(method, path, operation, fields))}`,
)}
</main>
</div>`,
  );
}

type FieldsOf = (schema: JsonSchema) => Field[];

function section(method: string, path: string, operation: Operation, fields: FieldsOf): SafeHtml {
  const { operationId, summary, parameters, requestBody, responses } = operation;
  const [status = '', success] = Object.entries(responses)[0] ?? [];
  const errors = Object.entries(responses).slice(1);
  const rows = parameters.map(({ name, in: place, required, schema }) => ({
    name,
    place,
    required,
    type: typeOf(schema),
  }));
  return html`<h3 id="${operationId}" class="path"><code><span class="method">${method}</span>${path}</code></h3>
<p>${summary}</p>
<p class="muted">${needs(operation)}</p>
${codeBlock(curlExample(method, path, operation))}
${rows.length > 0 && html`<h4>Parameters</h4>${fieldTable(rows)}`}
${Object.entries(requestBody?.content ?? {}).map(
  ([type, { schema }]) => html`<h4>Body · <code>${type}</code></h4>
${schema === undefined ? html`<p>The file.</p>` : fieldTable(fields(schema))}`,
)}
<h4>Answer · ${status}</h4>
${success?.content === undefined && html`<p>No body.</p>`}
${Object.entries(success?.content ?? {}).map(
  ([
    type,
    content,
  ]) => html`<p><code>${type}</code>${content['x-stream'] !== undefined && html`: ${content['x-stream']}`}</p>
${content.example !== undefined && codeBlock(asText(content.example))}
${content.schema !== undefined && html`<details><summary>Fields</summary>${fieldTable(fields(content.schema))}</details>`}`,
)}
<details><summary>Errors</summary>${errors.map(
    ([code, { description }]) => html`<p><strong>${code}</strong> ${withCode(description)}</p>`,
  )}</details>`;
}

const keyNames: Readonly<Record<string, string>> = {
  adminKey: 'an admin key',
  assistantKey: 'an assistant key',
  operatorToken: 'the operator token',
};

function needs(operation: Operation): string {
  const keys = operation.security.flatMap((one) => Object.keys(one).map((name) => keyNames[name] ?? name));
  return [
    keys.length === 0 ? 'Needs no key.' : `Needs ${keys.join(' or ')}.`,
    operation['x-scope'] === undefined ? '' : `Scope: ${operation['x-scope']}.`,
    operation['x-plan'] === undefined ? '' : `Plan: ${operation['x-plan']}.`,
    operation['x-rate-limits'] === undefined
      ? ''
      : `Counts against the limits: ${operation['x-rate-limits'].join(', ')}.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

type Field = { name: string; place?: string; required: boolean; type: string };

/** The members of an object, or of the objects in a list. */
function fieldsOf(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): Field[] {
  const whole = resolved(schema, schemas);
  const { properties = {}, required = [] } = whole.items ? resolved(whole.items, schemas) : whole;
  return Object.entries(properties).map(([name, field]) => ({
    name,
    required: required.includes(name),
    type: typeOf(field),
  }));
}

function fieldTable(fields: readonly Field[]): SafeHtml | false {
  if (fields.length === 0) return false;
  return html`<div class="wrap"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th></tr></thead><tbody>${fields.map(
    ({ name, place, required, type }) =>
      html`<tr><td><code>${name}</code>${required && html` <span class="required">required</span>`}</td><td>${type}${
        place !== undefined && html` <span class="muted">in ${place}</span>`
      }</td></tr>`,
  )}</tbody></table></div>`;
}

function typeOf({
  $ref,
  type,
  enum: values,
  const: value,
  anyOf,
  oneOf,
  items,
  format,
  ...schema
}: JsonSchema): string {
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  const byDefault = schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`;
  if (value !== undefined) return JSON.stringify(value);
  if (values !== undefined) return `${values.map((one) => JSON.stringify(one)).join(', ')}${byDefault}`;
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) return [...new Set(variants.map(typeOf))].filter((text) => text !== 'null').join(' or ');
  if (type === 'array') return `list of ${typeOf(items || {})}`;
  return `${format ?? type ?? 'any'}${byDefault}`;
}

/** The block can have the focus, so that long lines can be scrolled with the keyboard. */
const codeBlock = (text: string): SafeHtml => html`<pre tabindex="0"><code>${text}</code></pre>`;

const asText = (example: unknown): string => (typeof example === 'string' ? example : JSON.stringify(example, null, 2));

/** Text in which `…` marks code. */
const withCode = (text: string): SafeHtml[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
