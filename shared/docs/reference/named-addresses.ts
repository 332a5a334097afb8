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
import { lineOfName, placesOfNames } from '#shared/docs/project/place-of-name.ts';
import { fileKind, type NamedFiles } from '#shared/docs/project/project-files.ts';
import { readConfig } from '#shared/docs/project/read-config.ts';
import { remoteAddress } from './remote-files.ts';

/** The first file that names an address, and the line if it can be found. `written`: the forms in which the project writes the address. */
export type NamedAddress = { file: string; line?: number; written: Set<string> };

/** The addresses of API descriptions that a project names in its configuration and its pages, each with its place. Throws `InvalidProject`. */
export async function addressesNamedIn(project: NamedFiles): Promise<Map<string, NamedAddress>> {
  const found = new Map<string, NamedAddress>();
  const add = (written: string | undefined, place: (written: string) => Omit<NamedAddress, 'written'>): void => {
    const address = written === undefined ? undefined : remoteAddress(written);
    if (written === undefined || address === undefined) return;
    const known = found.get(address) ?? { ...place(written), written: new Set() };
    known.written.add(written);
    found.set(address, known);
  };
  const { value, file, files } = await readConfig(project);
  const placeOf = await placesOfNames(project, files);
  const inConfig = (written: string): Omit<NamedAddress, 'written'> => placeOf(written) ?? { file };
  const visit = (node: JsonValue): void => {
    // An address without a method is a link.
    if (typeof node === 'string') add(/^(https?:\S+)\s+[a-z]+\s+\S/i.exec(node.trim())?.[1], inConfig);
    else if (Array.isArray(node)) for (const item of node) visit(item);
    else if (isJsonObject(node)) visitNode(node);
  };
  const visitNode = (node: JsonObject): void => {
    for (const key of ['openapi', 'asyncapi']) for (const name of namesIn(node[key])) add(name, inConfig);
    for (const [key, inner] of Object.entries(node)) if (key === 'pages' || typeof inner === 'object') visit(inner);
  };
  const api = objectOf(value['api']);
  visitNode({ openapi: api['openapi'] ?? null, asyncapi: api['asyncapi'] ?? null });
  visit(value['navigation'] ?? null);
  for (const { path } of project.files) {
    if (fileKind(path) !== 'page' || project.mayName?.(path) === false) continue;
    const bytes = Buffer.from(await project.read(path, mostFrontmatterBytes));
    // Few pages name an address. These checks are faster than parsing, and the first one is faster than decoding.
    if (!mayNameDescription(bytes)) continue;
    const start = bytes.toString();
    if (!/^(?:openapi|openapi-schema|asyncapi)["']?\s*:.*https?:/im.test(start)) continue;
    const { data } = parseFrontmatter(decodeSource(Buffer.from(start), path).text, path);
    const inPage = (written: string): Omit<NamedAddress, 'written'> => {
      const line = lineOfName(start, written);
      return { file: path, ...(line !== undefined && { line }) };
    };
    for (const key of ['openapi', 'openapi-schema', 'asyncapi']) add(firstWord(textOf(data[key]) ?? ''), inPage);
  }
  return found;
}

const mostFrontmatterBytes = 68 * 1024;

/** False if the frontmatter of a page cannot name an API description, by its bytes. */
export function mayNameDescription(page: Uint8Array): boolean {
  const start = Buffer.from(page.buffer, page.byteOffset, Math.min(page.length, mostFrontmatterBytes));
  return start.includes('openapi') || start.includes('asyncapi');
}

/** The address at the start of `https://…/openapi.json GET /users`. */
const firstWord = (text: string): string | undefined => /^https?:\S+/i.exec(text.trim())?.[0];

const namesIn = (value: JsonValue | undefined): string[] => textsOf(isJsonObject(value) ? value['source'] : value);
