import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import type { FileEntry } from '#shared/docs/project/site-model.ts';
import { quoted, type Report } from '#shared/docs/project/diagnostics.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  plainJson,
  textOf,
} from '#shared/docs/project/json-values.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { scanSource } from '#shared/docs/project/read-sources.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { lineOf } from './open-slice.ts';
import { type Channel, findChannel } from './channels.ts';
import { metadataOf, type Operation } from './operations.ts';
import { placesOfNames } from '#shared/docs/project/place-of-name.ts';
import { isRemoteFile, remoteManifestPath } from './remote-files.ts';
import { sliceChannel } from './slice-channel.ts';
import { type OperationSlice, sliceOperation, sliceSchema } from './slice-operation.ts';
import { maxSliceBytes, maxSpecificationBytes } from './specification-limits.ts';
import {
  everywhere,
  isUsablePath,
  sourceOf,
  type Specification,
  SpecificationFiles,
  type SpecificationSource,
} from './specification-files.ts';

/** A file made at publication. It is stored under its hash, like files of the project. */
export type MadeFile = { sha256: string; text: string };

/** The part of a specification that a page shows. */
export type PageReference = {
  /** Slice of the specification, named by its origin (`openapi.json#GET /users`). */
  entry: FileEntry;
  /** Path of the specification. */
  file: string;
  title: string;
  description: string | undefined;
  isDeprecated: boolean;
  linkTargets: string[];
};

/** A page without a file in the project. */
export type MadePage = PageReference & {
  path: string;
  frontmatter: JsonObject;
  /** MDX content from its operation, mostly empty. */
  source: MadeFile;
};

/** Pages of one group, in order. Without a title they are not in a group. */
type MadeGroup = { title: string | undefined; pages: string[] };

/** The API descriptions of a project, and the pages made from them. */
export type SiteReference = {
  /** `api.openapi` of docs.json: the default source of operations. */
  preset: SpecificationSource;
  /** The page of a navigation entry such as `GET /users`; undefined if there is no such operation, which is reported. */
  pageOf(entry: string, source: SpecificationSource): string | undefined;
  /** The files that sources of OpenAPI and AsyncAPI stand for. */
  filesOf(operations: SpecificationSource | undefined, channels: SpecificationSource | undefined): string[];
  /** Pages for all operations, grouped by their tags. */
  pagesOfAll(source: SpecificationSource): MadeGroup[];
  /** Pages for all channels of AsyncAPI. */
  pagesOfChannels(source: SpecificationSource): string[];
  /** The part that a page with this frontmatter shows; undefined if none. `source` is the one of the page's place in the navigation. */
  ofFrontmatter(frontmatter: JsonObject, file: string, source?: SpecificationSource): PageReference | undefined;
  /** All pages requested so far, by path. */
  pages: ReadonlyMap<string, MadePage>;
  /** All files made so far. */
  files(): MadeFile[];
};

const maxTotalBytes = 64 * 1024 * 1024;
const maxPages = 20_000;
const entryForm = /^(?:(\S+)\s+)?(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|QUERY|WEBHOOK)\s+(\S.*)$/i;

/**
 * Opens the API descriptions of a project; each is read once, on first use. Problems with one are reported, and pages do without it. `config` has
 * `api` of docs.json, and the files that docs.json consists of. `isTaken` is true if the project has a page of that path, which takes precedence.
 */
export async function openSiteReference(
  project: Pick<ProjectFiles, 'files' | 'read'>,
  files: readonly FileEntry[],
  config: { api: JsonValue | undefined; files: readonly string[] },
  isTaken: (path: string) => boolean,
  report: Report,
): Promise<SiteReference> {
  const bytes = new Map<string, Uint8Array>();
  const remoteFiles = project.files.filter(({ path }) => isRemoteFile(path) && path !== remoteManifestPath);
  const remote = new Map<string, Uint8Array>();
  let total = 0;
  for (const { path, sizeBytes } of [...files, ...remoteFiles]) {
    total += sizeBytes;
    if (total <= maxTotalBytes)
      (isRemoteFile(path) ? remote : bytes).set(path, await project.read(path, maxSpecificationBytes + 1));
    else {
      const message = 'The API description is left out: with those before it, it is more than 64 MB. Publish fewer.';
      report({ severity: 'warning', code: 'openapi-too-large', message, file: path });
    }
  }
  const placeOf = await placesOfNames(project, config.files);
  const specifications = new SpecificationFiles(bytes, remote, placeOf, report);
  return new Reference(specifications, objectOf(config.api), isTaken, report);
}

class Reference implements SiteReference {
  readonly pages = new Map<string, MadePage>();
  readonly preset: SpecificationSource;
  readonly #channelPreset: SpecificationSource;
  readonly #specifications: SpecificationFiles;
  readonly #isTaken: (path: string) => boolean;
  readonly #report: Report;
  readonly #references = new Map<string, PageReference | undefined>();
  readonly #made = new Map<string, MadeFile>();
  readonly #pathOf = new Map<string, string>();
  /** Number of pages that wanted a path. */
  readonly #wanted = new Map<string, number>();
  #sliceBytes = 0;

  constructor(
    specifications: SpecificationFiles,
    settings: JsonObject,
    isTaken: (path: string) => boolean,
    report: Report,
  ) {
    this.#specifications = specifications;
    this.preset = sourceOf(settings['openapi']) ?? everywhere;
    this.#channelPreset = sourceOf(settings['asyncapi']) ?? everywhere;
    this.#isTaken = isTaken;
    this.#report = report;
  }

  pageOf(entry: string, source: SpecificationSource): string | undefined {
    const found = this.#find(entry, source, 'The navigation', 'docs.json');
    return found && this.#page(found.specification, found.operation, source.directory);
  }

  filesOf(operations: SpecificationSource | undefined, channels: SpecificationSource | undefined): string[] {
    const named = [
      ...(operations === undefined ? [] : this.#specifications.of('openapi', operations, 'docs.json')),
      ...(channels === undefined ? [] : this.#specifications.of('asyncapi', channels, 'docs.json')),
    ];
    return named.map(({ file }) => file);
  }

  pagesOfAll(source: SpecificationSource): MadeGroup[] {
    const groups = new Map<string, MadeGroup>();
    for (const specification of this.#specifications.of('openapi', source, 'docs.json')) {
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

  pagesOfChannels(source: SpecificationSource): string[] {
    const pages = new Set<string>();
    for (const specification of this.#specifications.of('asyncapi', source, 'docs.json')) {
      for (const channel of specification.channels) {
        if (channel.isExcluded) continue;
        const page = this.#channelPage(specification, channel, source.directory);
        if (page !== undefined && !channel.isHidden) pages.add(page);
      }
    }
    return [...pages];
  }

  ofFrontmatter(frontmatter: JsonObject, file: string, source = this.preset): PageReference | undefined {
    const named = textOf(frontmatter['openapi']);
    if (named !== undefined) {
      const found = this.#find(named, source, 'The frontmatter', file);
      return found && this.#reference(found.specification, found.operation);
    }
    const schema = textOf(frontmatter['openapi-schema']);
    if (schema !== undefined) return this.#schema(schema, file);
    const channel = textOf(frontmatter['asyncapi']);
    return channel === undefined ? undefined : this.#channelNamed(channel, file);
  }

  files(): MadeFile[] {
    return [...this.#made.values()];
  }

  #warn(code: FindingCode, message: string, file: string): void {
    this.#report({ severity: 'warning', code, message, file });
  }

  /**
   * Descriptions to search, in order: the file that the page or entry names, and only that one, or else those of its place in the navigation, those
   * of `api` of docs.json, and all others.
   */
  *#places(
    kind: Specification['kind'],
    own: string | undefined,
    source: SpecificationSource,
    file: string,
  ): Generator<Specification> {
    if (own !== undefined) return yield* this.#specifications.of(kind, { ...everywhere, names: [own] }, file);
    yield* this.#specifications.of(kind, source, file);
    const preset = kind === 'openapi' ? this.preset : this.#channelPreset;
    if (preset !== source) yield* this.#specifications.of(kind, preset, 'docs.json');
    yield* this.#specifications.of(kind, everywhere, file);
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
    for (const specification of this.#places('openapi', own, source, file)) {
      const operation = specification.index(method.toUpperCase(), path.trim());
      if (operation && !operation.isExcluded) return { specification, operation };
    }
    const message = `${where} names the operation ${quoted(entry)}, which no matching API description has. Correct its method or path, or add the file.`;
    this.#warn('openapi-operation-missing', message, file);
    return undefined;
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
    const own = parts.length > 1 ? parts[0] : undefined;
    for (const specification of this.#places('openapi', own, this.preset, file)) {
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
    const message = `The frontmatter names the schema ${quoted(written)}, which no matching API description has. Correct its name, or add the file.`;
    this.#warn('openapi-schema-missing', message, file);
    return undefined;
  }

  /** Finds a channel by `file channel`, or by its name in any file. */
  #channelNamed(written: string, file: string): PageReference | undefined {
    const [, own, rest = written] = /^(https?:\S+|\S+\.(?:json|ya?ml))\s+(\S.*)$/i.exec(written) ?? [];
    for (const specification of this.#places('asyncapi', own, this.#channelPreset, file)) {
      const channel = findChannel(specification.channels, rest.trim());
      if (channel && !channel.isExcluded) return this.#channel(specification, channel);
    }
    const message = `The frontmatter names the channel ${quoted(written)}, which no matching AsyncAPI description has. Correct its name, or add the file.`;
    this.#warn('asyncapi-channel-missing', message, file);
    return undefined;
  }

  #channel(specification: Specification, channel: Channel): PageReference | undefined {
    const { name, title, isDeprecated, written } = channel;
    return this.#sliced(`${specification.file}#${name}`, specification, () => ({
      slice: sliceChannel(specification.document, channel),
      title,
      description:
        textOf(metadataOf(written)['description']) ?? lineOf(textOf(written['description']) ?? written['summary']),
      isDeprecated,
    }));
  }

  #sliced(
    name: string,
    { file }: Specification,
    make: () => Omit<PageReference, 'entry' | 'file' | 'linkTargets'> & { slice: OperationSlice | undefined },
  ): PageReference | undefined {
    if (this.#references.has(name)) return this.#references.get(name);
    if (this.#sliceBytes >= maxSliceBytes) {
      this.#reportTooMany(name, file);
      this.#references.set(name, undefined);
      return undefined;
    }
    const { slice, ...facts } = make();
    let reference: PageReference | undefined;
    if (slice !== undefined) {
      const { sha256 } = this.#make(slice.text);
      const sizeBytes = Buffer.byteLength(slice.text);
      this.#sliceBytes += sizeBytes;
      const { linkTargets } = scanSource(descriptionsIn(slice.text), `${name.split('#')[0]}`);
      reference = { ...facts, file, entry: { path: name, sha256, sizeBytes }, linkTargets };
      this.#reportSlice(slice, name, file);
    }
    this.#references.set(name, reference);
    return reference;
  }

  #reportTooMany(name: string, file: string): void {
    const message = `${quoted(name)} has no page: the pages made from API descriptions would take more than 64 MB. Publish fewer.`;
    this.#warn('openapi-too-large', message, file);
  }

  #reportSlice({ unresolved, isCut }: OperationSlice, name: string, file: string): void {
    const which = quoted(name.slice(name.indexOf('#') + 1));
    for (const reference of unresolved) {
      const message = `${which} refers to ${quoted(reference)}, which is not in the file. Only references within one file are followed.`;
      this.#warn('openapi-reference-missing', message, file);
    }
    if (!isCut) return;
    const message = `${which} has more than 20,000 values or two million characters. Those further down are not shown.`;
    this.#warn('openapi-operation-too-large', message, file);
  }

  #make(text: string): MadeFile {
    const sha256 = sha256Of(text);
    const made = this.#made.get(sha256) ?? { sha256, text };
    this.#made.set(sha256, made);
    return made;
  }

  #page(specification: Specification, operation: Operation, directory: string): string | undefined {
    const { file } = specification;
    const { kind, method, path, written, group = '', title } = operation;
    const name = `${kind === 'webhook' ? 'WEBHOOK' : method} ${path}`;
    return this.#madePage({
      key: `${directory} ${file} ${name}`,
      wanted: pathOfPage(written, directory, group, slugOf(title) || slugOf(`${method} ${path}`) || 'operation'),
      written,
      named: { openapi: `${file} ${name}` },
      reference: () => this.#reference(specification, operation),
    });
  }

  #channelPage(specification: Specification, channel: Channel, directory: string): string | undefined {
    const { file } = specification;
    const { name, title, written } = channel;
    return this.#madePage({
      key: `${directory} ${file} CHANNEL ${name}`,
      wanted: pathOfPage(written, directory, '', slugOf(title) || slugOf(name) || 'channel'),
      written,
      named: { asyncapi: `${file} ${name}` },
      reference: () => this.#channel(specification, channel),
    });
  }

  /** Path of a generated page, made once for each key; undefined if the project already has that page. */
  #madePage(page: {
    key: string;
    wanted: string;
    written: JsonObject;
    named: JsonObject;
    reference: () => PageReference | undefined;
  }): string | undefined {
    const { key, wanted, written, named } = page;
    const known = this.#pathOf.get(key);
    if (known !== undefined) return known;
    let count = this.#wanted.get(wanted) ?? 1;
    let free = count === 1 ? wanted : `${wanted}-${count}`;
    for (; this.pages.has(free); free = `${wanted}-${count}`) count += 1;
    if (this.#isTaken(free)) return free;
    const reference = this.pages.size < maxPages ? page.reference() : undefined;
    if (reference === undefined) return undefined;
    this.#pathOf.set(key, free);
    this.#wanted.set(wanted, count);
    const mint = objectOf(written['x-mint']);
    const metadata = objectOf(plainJson(metadataOf(written)));
    const groups = mint['groups'] === undefined ? metadata['groups'] : plainJson(mint['groups']);
    this.pages.set(free, {
      ...reference,
      path: free,
      source: this.#make(textOf(mint['content']) ?? ''),
      frontmatter: { ...metadata, ...(groups !== undefined && { groups }), ...named },
    });
    return free;
  }
}

function pathOfPage(written: JsonObject, directory: string, group: string, name: string): string {
  const href = textOf(objectOf(written['x-mint'])['href'])?.replaceAll(/^\/+|\/+$/g, '');
  if (href !== undefined && isUsablePath(href)) return href;
  return [directory, slugOf(group), name].filter((part) => part !== '').join('/');
}

/** Converts `List all users` to `list-all-users`. */
const slugOf = (title: string): string =>
  title
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 80)
    // Removes half of a character that was cut in the middle.
    .replace(/[\ud800-\udbff]$/, '');

/** Descriptions that may contain links. */
function descriptionsIn(json: string): string {
  if (!json.includes('](')) return '';
  const texts: string[] = [];
  for (const [, text = ''] of json.matchAll(/"(?:description|summary)":"((?:[^"\\]|\\.){1,20000})"/g))
    if (text.includes('](')) texts.push(textOf(JSON.parse(`"${text}"`) as string) ?? '');
  return texts.join('\n');
}
