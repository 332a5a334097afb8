import { decodeSource } from '#shared/docs/project/decode-source.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { parseFrontmatter } from '#shared/docs/project/parse-frontmatter.ts';
import { fileKind, type NamedFiles } from '#shared/docs/project/project-files.ts';
import { readConfig } from '#shared/docs/project/read-config.ts';
import { remoteAddress } from './remote-files.ts';

/** Addresses of API descriptions in a project's configuration and pages, each with the first file that names it. Throws `InvalidProject`. */
export async function addressesNamedIn(project: NamedFiles): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const add = (written: string | undefined, file: string): void => {
    const address = written === undefined ? undefined : remoteAddress(written);
    if (address !== undefined && !found.has(address)) found.set(address, file);
  };
  const { value, file } = await readConfig(project);
  const visit = (node: JsonValue): void => {
    // An address without a method is a link.
    if (typeof node === 'string') add(/^(https?:\S+)\s+[a-z]+\s+\S/i.exec(node.trim())?.[1], file);
    else if (Array.isArray(node)) for (const item of node) visit(item);
    else if (isJsonObject(node)) visitNode(node);
  };
  const visitNode = (node: JsonObject): void => {
    for (const key of ['openapi', 'asyncapi']) for (const name of namesIn(node[key])) add(name, file);
    for (const [key, inner] of Object.entries(node)) if (key === 'pages' || typeof inner === 'object') visit(inner);
  };
  const api = objectOf(value['api']);
  visitNode({ openapi: api['openapi'] ?? null, asyncapi: api['asyncapi'] ?? null });
  visit(value['navigation'] ?? null);
  for (const { path } of project.files) {
    if (fileKind(path) !== 'page') continue;
    const start = Buffer.from(await project.read(path, mostFrontmatterBytes)).toString();
    // Few pages name an address, and this check is faster than parsing.
    if (!/^(?:openapi|openapi-schema|asyncapi)["']?\s*:.*https?:/im.test(start)) continue;
    const { data } = parseFrontmatter(decodeSource(Buffer.from(start), path).text, path);
    for (const key of ['openapi', 'openapi-schema', 'asyncapi']) add(firstWord(textOf(data[key]) ?? ''), path);
  }
  return found;
}

const mostFrontmatterBytes = 68 * 1024;

/** The address at the start of `https://…/openapi.json GET /users`. */
const firstWord = (text: string): string | undefined => /^https?:\S+/i.exec(text.trim())?.[0];

const namesIn = (value: JsonValue | undefined): string[] => textsOf(isJsonObject(value) ? value['source'] : value);
