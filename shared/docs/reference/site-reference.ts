import type { FileEntry } from '#shared/docs/project/site-model.ts';
import { archivePathProblem } from '#shared/export/bundle/archive-names.ts';
import { quoted, type Report } from '#shared/docs/project/diagnostics.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { scanSource } from '#shared/docs/project/read-sources.ts';
import { isSafeHref } from '#shared/docs/project/url-policy.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { lineOf } from './open-slice.ts';
import { findOperation, metadataOf, type Operation, operationsOf, tagTitles } from './operations.ts';
import { maxSpecificationBytes, parseSpecification, SpecificationRefused } from './parse-specification.ts';
import { type OperationSlice, sliceOperation, sliceSchema } from './slice-operation.ts';

/** A file that publication makes. It is stored under its hash, like files of the project. */
export type MadeFile = { sha256: string; text: string };

/** Where operations are looked for: files and folders of the project, and the folder of the pages that are made. */
export type SpecificationSource = { names: readonly string[]; directory: string };

/** What a page shows of a specification. */
export type PageReference = {
  /** Its slice: the name says where it is from (`openapi.json#GET /users`). */
  entry: FileEntry;
  title: string;
  description: string | undefined;
  isDeprecated: boolean;
  linkTargets: string[];
};

/** A page that no file of the project is for. */
export type MadePage = PageReference & {
  path: string;
  /** The specification. */
  file: string;
  frontmatter: JsonObject;
  /** Content in MDX that its operation brings along, mostly none. */
  source: MadeFile;
};

/** Pages of one group, in order. Without a title they stand by themselves. */
type MadeGroup = { title: string | undefined; pages: string[] };

/** The API descriptions of a project, and the pages that are made from them. */
export type SiteReference = {
  /** `api.openapi` of docs.json: where operations are that nothing else says the place of. */
  preset: SpecificationSource;
  /** The page of an entry of the navigation such as `GET /users`; undefined when there is no such operation, which is reported. */
  pageOf(entry: string, source: SpecificationSource): string | undefined;
  /** Pages for all operations, by their tags. */
  pagesOfAll(source: SpecificationSource): MadeGroup[];
  /** What a page with such frontmatter shows; undefined: nothing of a specification. */
  ofFrontmatter(frontmatter: JsonObject, file: string): PageReference | undefined;
  /** All pages that were asked for so far, by path. */
  pages: ReadonlyMap<string, MadePage>;
  /** All files that were made so far. */
  files(): MadeFile[];
};

const maxTotalBytes = 64 * 1024 * 1024;
/** Of all slices of a project, and the same again for the content that operations bring along. */
const maxSliceBytes = 64 * 1024 * 1024;
export const maxMadeBytes = 2 * maxSliceBytes;
const maxPages = 20_000;
const defaultDirectory = 'api-reference';
const entryForm = /^(?:(\S+)\s+)?(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|QUERY|WEBHOOK)\s+(\S.*)$/i;

type Specification = { file: string; document: JsonObject; operations: Operation[]; tags: Map<string, string> };

/**
 * Reads the API descriptions of a project, each when it is first needed and once. What is wrong with one is reported, and pages do without it.
 * `settings`: `api` of docs.json. `isTaken`: whether the project has a page of that path; it wins.
 */
export async function openSiteReference(
  project: Pick<ProjectFiles, 'read'>,
  files: readonly FileEntry[],
  settings: JsonValue | undefined,
  isTaken: (path: string) => boolean,
  report: Report,
): Promise<SiteReference> {
  const bytes = new Map<string, Uint8Array>();
  let total = 0;
  for (const { path, sizeBytes } of files) {
    total += sizeBytes;
    if (total <= maxTotalBytes) bytes.set(path, await project.read(path, maxSpecificationBytes + 1));
  }
  return new Reference(bytes, sourceOf(objectOf(settings)['openapi']), isTaken, report);
}

/** `openapi` of docs.json or of a node: a name, a list of them, or `{ source, directory }`. Undefined: it is not there. */
export function sourceOf(value: JsonValue | undefined): SpecificationSource | undefined {
  const names = textsOf(isJsonObject(value) ? value['source'] : value);
  if (names.length === 0) return undefined;
  const directory = isJsonObject(value) ? textOf(value['directory'])?.replaceAll(/^\.?\/+|\/+$/g, '') : undefined;
  return { names, directory: directory !== undefined && isUsablePath(directory) ? directory : defaultDirectory };
}

const isUsablePath = (path: string): boolean => archivePathProblem(path) === undefined && isSafeHref(path);

/** Looks everywhere. */
const everywhere: SpecificationSource = { names: [], directory: defaultDirectory };

class Reference implements SiteReference {
  readonly pages = new Map<string, MadePage>();
  readonly #bytes: ReadonlyMap<string, Uint8Array>;
  readonly preset: SpecificationSource;
  readonly #isTaken: (path: string) => boolean;
  readonly #report: Report;
  readonly #specifications = new Map<string, Specification | undefined>();
  readonly #references = new Map<string, PageReference | undefined>();
  readonly #made = new Map<string, MadeFile>();
  readonly #pathOf = new Map<string, string>();
  #sliceBytes = 0;

  constructor(
    bytes: ReadonlyMap<string, Uint8Array>,
    preset: SpecificationSource | undefined,
    isTaken: (path: string) => boolean,
    report: Report,
  ) {
    this.#bytes = bytes;
    this.preset = preset ?? everywhere;
    this.#isTaken = isTaken;
    this.#report = report;
  }

  pageOf(entry: string, source: SpecificationSource): string | undefined {
    const found = this.#find(entry, source, 'The navigation', 'docs.json');
    return found && this.#page(found.specification, found.operation, source.directory);
  }

  pagesOfAll(source: SpecificationSource): MadeGroup[] {
    const groups = new Map<string, MadeGroup>();
    for (const specification of this.#named(source, 'docs.json')) {
      for (const operation of specification.operations) {
        if (operation.isExcluded) continue;
        const page = this.#page(specification, operation, source.directory);
        if (page === undefined || operation.isHidden) continue;
        const { group = '' } = operation;
        const members = groups.get(group) ?? {
          title: specification.tags.get(group) ?? (group || undefined),
          pages: [],
        };
        if (!members.pages.includes(page)) members.pages.push(page);
        groups.set(group, members);
      }
    }
    return [...groups.values()];
  }

  ofFrontmatter(frontmatter: JsonObject, file: string): PageReference | undefined {
    const named = textOf(frontmatter['openapi']);
    if (named !== undefined) {
      const found = this.#find(named, this.preset, 'The frontmatter', file);
      return found && this.#reference(found.specification, found.operation);
    }
    const schema = textOf(frontmatter['openapi-schema']);
    return schema === undefined ? undefined : this.#schema(schema, file);
  }

  files(): MadeFile[] {
    return [...this.#made.values()];
  }

  #warn(code: string, message: string, file: string): void {
    this.#report({ severity: 'warning', code, message, file });
  }

  #find(
    entry: string,
    source: SpecificationSource,
    where: string,
    file: string,
  ): { specification: Specification; operation: Operation } | undefined {
    const [, own, method = '', path = ''] = entryForm.exec(entry.trim()) ?? [];
    if (method === '') {
      const message = `${where} has "openapi": ${quoted(entry)}. Write it as "GET /path" or "file.json GET /path".`;
      this.#warn('bad-openapi-entry', message, file);
      return undefined;
    }
    const from = own === undefined ? source : { ...source, names: [own] };
    for (const specification of this.#named(from, file)) {
      const operation = findOperation(specification.operations, method.toUpperCase(), path.trim());
      if (operation && !operation.isExcluded) return { specification, operation };
    }
    const message = `${where} names the operation ${quoted(entry)}, which is in no API description that it can mean. Correct its method or path, or add the file.`;
    this.#warn('openapi-operation-missing', message, file);
    return undefined;
  }

  /** The specifications that a source names; all of them, where it names none. */
  *#named({ names }: SpecificationSource, file: string): Generator<Specification> {
    const wanted = names.length === 0 ? [...this.#bytes.keys()] : names.flatMap((name) => this.#filesNamed(name, file));
    for (const path of new Set(wanted)) {
      const specification = this.#specification(path);
      if (specification) yield specification;
    }
  }

  #filesNamed(name: string, file: string): string[] {
    if (/^https?:/i.test(name)) {
      const message = `The API description ${quoted(name)} is not fetched. Add the file to the project, and name it.`;
      this.#warn('openapi-not-fetched', message, file);
      return [];
    }
    const path = name.replace(/^\.?\/+/, '').replace(/\/+$/, '');
    if (this.#bytes.has(path)) return [path];
    const inside = [...this.#bytes.keys()].filter((each) => path === '' || each.startsWith(`${path}/`));
    if (inside.length === 0) {
      const message = `There is no OpenAPI file ${quoted(path)} in the project, or it is in no format that is read. Add it, or correct the name.`;
      this.#warn('openapi-file-missing', message, file);
    }
    return inside.sort();
  }

  #specification(file: string): Specification | undefined {
    if (this.#specifications.has(file)) return this.#specifications.get(file);
    let specification: Specification | undefined;
    try {
      const document = parseSpecification(this.#bytes.get(file) ?? new Uint8Array(), file);
      specification = { file, document, operations: operationsOf(document), tags: tagTitles(document) };
    } catch (error) {
      if (!(error instanceof SpecificationRefused)) throw error;
      // AsyncAPI is listed with the others, and is no mistake.
      if (!/asyncapi/i.test(Buffer.from(this.#bytes.get(file) ?? []).toString('utf8', 0, 500)))
        this.#warn('openapi-not-read', `The API description is left out: it ${error.message}.`, file);
    }
    this.#specifications.set(file, specification);
    return specification;
  }

  #reference(specification: Specification, operation: Operation): PageReference | undefined {
    const name = `${specification.file}#${operation.kind === 'webhook' ? 'WEBHOOK' : operation.method} ${operation.path}`;
    return this.#sliced(name, specification, () => ({
      slice: sliceOperation(specification.document, operation),
      title: operation.title,
      description: textOf(metadataOf(operation.written)['description']) ?? lineOf(operation.written['description']),
      isDeprecated: operation.isDeprecated,
    }));
  }

  #schema(written: string, file: string): PageReference | undefined {
    const parts = written.split(/\s+/);
    const name = parts.at(-1) ?? '';
    const source = parts.length > 1 ? { ...everywhere, names: parts.slice(0, 1) } : this.preset;
    for (const specification of this.#named(source, file)) {
      const schema = objectOf(objectOf(specification.document['components'])['schemas'])[name];
      if (!isJsonObject(schema)) continue;
      return this.#sliced(`${specification.file}#${name}`, specification, () => {
        const slice = sliceSchema(specification.document, name);
        const title = textOf(schema['title']) ?? name;
        return {
          slice,
          title,
          description: lineOf(schema['description']),
          isDeprecated: schema['deprecated'] === true,
        };
      });
    }
    const message = `The frontmatter names the schema ${quoted(written)}, which is in no API description that it can mean. Correct its name, or add the file.`;
    this.#warn('openapi-schema-missing', message, file);
    return undefined;
  }

  #sliced(
    name: string,
    { file }: Specification,
    make: () => Omit<PageReference, 'entry' | 'linkTargets'> & { slice: OperationSlice | undefined },
  ): PageReference | undefined {
    if (this.#references.has(name)) return this.#references.get(name);
    const { slice, ...facts } = make();
    let reference: PageReference | undefined;
    if (slice !== undefined && this.#sliceBytes < maxSliceBytes) {
      const { sha256 } = this.#make(slice.text);
      const sizeBytes = Buffer.byteLength(slice.text);
      this.#sliceBytes += sizeBytes;
      const { linkTargets } = scanSource(descriptionsIn(slice.text), `${name.split('#')[0]}`);
      reference = { ...facts, entry: { path: name, sha256, sizeBytes }, linkTargets };
      this.#reportSlice(slice, name, file);
    } else if (slice !== undefined) {
      const message = `${quoted(name)} has no page: the pages made from API descriptions would take more than 64 MB. Publish fewer.`;
      this.#warn('openapi-too-large', message, file);
    }
    this.#references.set(name, reference);
    return reference;
  }

  #reportSlice({ unresolved, isCut }: OperationSlice, name: string, file: string): void {
    const which = quoted(name.slice(name.indexOf('#') + 1));
    for (const reference of unresolved) {
      const message = `${which} refers to ${quoted(reference)}, which is not in the file. Only references within one file are followed.`;
      this.#warn('openapi-reference-missing', message, file);
    }
    if (!isCut) return;
    const message = `${which} reaches more than 20,000 values through its references. What is further away is not shown.`;
    this.#warn('openapi-operation-too-large', message, file);
  }

  #make(text: string): MadeFile {
    const sha256 = sha256Of(text);
    const made = this.#made.get(sha256) ?? { sha256, text };
    this.#made.set(sha256, made);
    return made;
  }

  /** Path of the page for an operation; a page of the project that is there already wins. */
  #page(specification: Specification, operation: Operation, directory: string): string | undefined {
    const { file } = specification;
    const { kind, method, path, written } = operation;
    const key = `${directory} ${file} ${kind} ${method} ${path}`;
    const known = this.#pathOf.get(key);
    if (known !== undefined) return known;
    const wanted = pathOfPage(operation, directory);
    let free = wanted;
    for (let count = 2; this.pages.has(free); count += 1) free = `${wanted}-${count}`;
    if (this.#isTaken(free)) return free;
    const reference = this.pages.size < maxPages ? this.#reference(specification, operation) : undefined;
    if (reference === undefined) return undefined;
    this.#pathOf.set(key, free);
    const mint = objectOf(written['x-mint']);
    const groups = mint['groups'] ?? metadataOf(written)['groups'];
    this.pages.set(free, {
      ...reference,
      path: free,
      file,
      source: this.#make(textOf(mint['content']) ?? ''),
      frontmatter: {
        ...metadataOf(written),
        ...(groups !== undefined && { groups }),
        openapi: `${file} ${kind === 'webhook' ? 'WEBHOOK' : method} ${path}`,
      },
    });
    return free;
  }
}

function pathOfPage(operation: Operation, directory: string): string {
  const href = textOf(objectOf(operation.written['x-mint'])['href'])?.replaceAll(/^\/+|\/+$/g, '');
  if (href !== undefined && isUsablePath(href)) return href;
  const name = slugOf(operation.title) || slugOf(`${operation.method} ${operation.path}`) || 'operation';
  return [directory, slugOf(operation.group ?? ''), name].filter((part) => part !== '').join('/');
}

/** `List all users` becomes `list-all-users`. */
const slugOf = (title: string): string =>
  title
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 80);

/** Texts in which links may be. */
function descriptionsIn(json: string): string {
  if (!json.includes('](')) return '';
  const texts: string[] = [];
  for (const [, text = ''] of json.matchAll(/"(?:description|summary)":"((?:[^"\\]|\\.){1,20000})"/g))
    if (text.includes('](')) texts.push(textOf(JSON.parse(`"${text}"`) as string) ?? '');
  return texts.join('\n');
}
