import { hasExactNumbers, jsonAsCode } from './json-code.ts';
import { phpLiteral, pythonLiteral, rubyLiteral, scriptLiteral, shellLiteral } from './sample-literals.ts';
import { allHeaders, type SampleField, type SentRequest, sampleFile, withPartsAsText } from './sample-request.ts';

/*
 * Writes a request as code, with one function for each language. Texts of a description appear only in literals; all other code is fixed here.
 * Undefined if the language cannot write the request.
 */

export function curlCommand(request: SentRequest): string | undefined {
  const { method, address, headers, cookies, body } = request;
  // curl ends the name of a part at the first `=`.
  if (body?.kind === 'parts' && body.parts.some(({ name }) => name.includes('='))) {
    const text = withPartsAsText(request);
    return text && curlCommand(text);
  }
  const options: [option: string, text: string][] = headers.map(([name, value]) => [
    '--header',
    value === '' ? `${name};` : `${name}: ${value}`,
  ]);
  if (cookies !== '') options.push(['--cookie', cookies]);
  if (body?.kind === 'file') options.push(['--data-binary', `@${sampleFile}`]);
  else if (body?.kind === 'parts') options.push(...body.parts.map(partOption));
  // curl reads a value after `@` as the name of a file.
  else if (body !== undefined) options.push([body.text.startsWith('@') ? '--data-raw' : '--data', body.text]);
  const written = options.flatMap(([option, text]) => {
    const literal = shellLiteral(text);
    return literal === undefined ? [] : [`${option} ${literal}`];
  });
  if (written.length < options.length) return undefined;
  const asked = method === 'HEAD' ? ['--head'] : method === 'GET' && !body ? [] : [`--request ${method}`];
  // Without this option curl reads brackets and braces as lists of addresses. A name in braces is a placeholder for the reader.
  const globs = /[[\]{}]/.test(address.replaceAll(/\{[\w.-]+\}/g, '')) ? ['--globoff'] : [];
  return [`curl '${address}'`, ...globs, ...asked, ...written].join(' \\\n  ');
}

/** curl reads a leading `@` or `<` as a file name, and text after `;` as options, except between quotes. */
function partOption({ name, value, isFile, mimeType }: SampleField): [string, string] {
  const type = mimeType === undefined ? '' : `;type=${mimeType}`;
  if (isFile === true) return ['--form', `${name}=@${sampleFile}${type}`];
  if (type === '') return ['--form-string', `${name}=${value}`];
  return ['--form', `${name}="${value.replaceAll(/["\\]/g, '\\$&')}"${type}`];
}

const pythonWords = { true: 'True', false: 'False', null: 'None' };

export function pythonCode(request: SentRequest): string {
  const { method, address, body } = request;
  const isNamed = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/.test(method);
  const headers = allHeaders(request).map(([name, value]) => `${pythonLiteral(name)}: ${pythonLiteral(value)}`);
  const given = [
    ...(isNamed ? [] : [pythonLiteral(method)]),
    pythonLiteral(address),
    ...(headers.length === 0 ? [] : [`headers=${pythonBlock('{}', headers)}`]),
    ...(body === undefined ? [] : [pythonBody(body)]),
  ];
  const call = `requests.${isNamed ? method.toLowerCase() : 'request'}`;
  const inside = given.length === 1 ? given[0] : `\n${given.map((part) => `    ${part},\n`).join('')}`;
  return `import requests\n\nresponse = ${call}(${inside})\n\nprint(response.text)`;
}

const pythonBlock = ([open, close]: string | string[], items: readonly string[]): string =>
  `${open}\n${items.map((item) => `        ${item},\n`).join('')}    ${close}`;

function pythonBody(body: NonNullable<SentRequest['body']>): string {
  const file = pythonLiteral(sampleFile);
  if (body.kind === 'json') return `json=${jsonAsCode(body.text, { text: pythonLiteral, words: pythonWords }, 4)}`;
  if (body.kind === 'text') return `data=${pythonLiteral(body.text)}.encode()`;
  if (body.kind === 'file') return `data=open(${file}, "rb")`;
  const parts = body.parts.map(({ name, value, isFile, mimeType }) => {
    const content = isFile === true ? `${file}, open(${file}, "rb")` : `None, ${pythonLiteral(value)}`;
    return `(${pythonLiteral(name)}, (${content}${mimeType === undefined ? '' : `, ${pythonLiteral(mimeType)}`}))`;
  });
  return `files=${pythonBlock('[]', parts)}`;
}

/** The name of a member. `__proto__` is computed, because it would otherwise set the prototype. */
const scriptName = (name: string): string =>
  name === '__proto__' ? "['__proto__']" : /^[A-Za-z_$][\w$]*$/.test(name) ? name : scriptLiteral(name);

const scriptWords = { true: 'true', false: 'false', null: 'null' };

export function scriptCode(request: SentRequest): string {
  const { method, address, body } = request;
  const headers = allHeaders(request).map(([name, value]) => `    ${scriptName(name)}: ${scriptLiteral(value)}`);
  const options = [
    ...(method === 'GET' && body === undefined ? [] : [`  method: ${scriptLiteral(method)}`]),
    ...(headers.length === 0 ? [] : [`  headers: {\n${headers.join(',\n')}\n  }`]),
    ...(body === undefined ? [] : [`  body: ${scriptBody(body)}`]),
  ];
  const given = options.length === 0 ? '' : `, {\n${options.join(',\n')}\n}`;
  const call = `fetch(${scriptLiteral(address)}${given})`;
  return body?.kind === 'parts' ? `${scriptForm(body.parts)}\n${call}` : call;
}

function scriptBody(body: NonNullable<SentRequest['body']>): string {
  if (body.kind === 'parts') return 'formData';
  if (body.kind === 'file') return 'new Blob([])';
  if (body.kind === 'text' || hasExactNumbers(body.text)) return scriptLiteral(body.text);
  const dialect = { text: scriptLiteral, name: scriptName, words: scriptWords };
  return `JSON.stringify(${jsonAsCode(body.text, dialect, 2)})`;
}

function scriptForm(parts: readonly SampleField[]): string {
  const added = parts.map(({ name, value, isFile, mimeType }) => {
    const type = mimeType === undefined ? '' : `, { type: ${scriptLiteral(mimeType)} }`;
    const content =
      isFile === true
        ? `new Blob([]${type}), ${scriptLiteral(sampleFile)}`
        : type === ''
          ? scriptLiteral(value)
          : `new Blob([${scriptLiteral(value)}]${type})`;
    return `formData.append(${scriptLiteral(name)}, ${content})\n`;
  });
  return `const formData = new FormData()\n${added.join('')}`;
}

export function phpCode(request: SentRequest): string | undefined {
  const { method, address, body } = request;
  // A form in PHP is an array, in which each name occurs once.
  const isTwice = body?.kind === 'parts' && new Set(body.parts.map(({ name }) => name)).size < body.parts.length;
  if (isTwice) {
    const text = withPartsAsText(request);
    return text && phpCode(text);
  }
  const option = (name: string, value: string): string => `curl_setopt($ch, CURLOPT_${name}, ${value});\n`;
  const headers = allHeaders(request).map(([name, value]) => `  ${phpLiteral(`${name}: ${value}`)},\n`);
  const options = [
    ...(method === 'HEAD' ? [option('NOBODY', 'true')] : []),
    ...(/^(?:GET|HEAD)$/.test(method) && body === undefined ? [] : [option('CUSTOMREQUEST', phpLiteral(method))]),
    ...(headers.length === 0 ? [] : [option('HTTPHEADER', `[\n${headers.join('')}]`)]),
    ...(body === undefined ? [] : [option('POSTFIELDS', phpBody(body))]),
  ];
  const set = options.length === 0 ? '' : `${options.join('')}\n`;
  return `$ch = curl_init(${phpLiteral(address)});\n\n${set}curl_exec($ch);\n\ncurl_close($ch);`;
}

function phpBody(body: NonNullable<SentRequest['body']>): string {
  if (body.kind === 'file') return `file_get_contents(${phpLiteral(sampleFile)})`;
  if (body.kind !== 'parts') return phpLiteral(body.text);
  const parts = body.parts.map(({ name, value, isFile, mimeType }) => {
    const type = mimeType === undefined ? '' : `, ${phpLiteral(mimeType)}`;
    const content =
      isFile === true
        ? `new CURLFile(${phpLiteral(sampleFile)}${type})`
        : type === ''
          ? phpLiteral(value)
          : `new CURLStringFile(${phpLiteral(value)}, ${phpLiteral(name)}${type})`;
    return `  ${phpLiteral(name)} => ${content},\n`;
  });
  return `[\n${parts.join('')}]`;
}

const rubyMethods = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE)$/;

export function rubyCode(request: SentRequest): string {
  const { method, address, body } = request;
  const made = rubyMethods.test(method)
    ? `Net::HTTP::${method.charAt(0)}${method.slice(1).toLowerCase()}.new(url)`
    : `Net::HTTPGenericRequest.new(${rubyLiteral(method)}, true, true, url)`;
  const headers = allHeaders(request).map(([name, value]) => `request[${rubyLiteral(name)}] = ${rubyLiteral(value)}\n`);
  const secure = address.startsWith('https:') ? 'http.use_ssl = true\n' : '';
  return `require 'uri'
require 'net/http'

url = URI(${rubyLiteral(address)})

http = Net::HTTP.new(url.host, url.port)
${secure}
request = ${made}
${headers.join('')}${body === undefined ? '' : rubyBody(body)}
response = http.request(request)
puts response.read_body`;
}

function rubyBody(body: NonNullable<SentRequest['body']>): string {
  if (body.kind === 'file') return `request.body = File.binread(${rubyLiteral(sampleFile)})\n`;
  if (body.kind !== 'parts') return `request.body = ${rubyLiteral(body.text)}\n`;
  const parts = body.parts.map(({ name, value, isFile, mimeType }) => {
    const content = isFile === true ? `File.open(${rubyLiteral(sampleFile)})` : rubyLiteral(value);
    const type = mimeType === undefined ? '' : `, { content_type: ${rubyLiteral(mimeType)} }`;
    return `  [${rubyLiteral(name)}, ${content}${type}],\n`;
  });
  return `request.set_form([\n${parts.join('')}], 'multipart/form-data')\n`;
}
