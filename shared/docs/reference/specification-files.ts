import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import { quoted, type Report } from '#shared/docs/project/diagnostics.ts';
import { isJsonObject, type JsonObject, type JsonValue, textOf, textsOf } from '#shared/docs/project/json-values.ts';
import type { PlaceOfName } from '#shared/docs/project/place-of-name.ts';
import { resolvePath } from '#shared/docs/project/project-files.ts';
import { isSafeHref } from '#shared/docs/project/url-policy.ts';
import { archivePathProblem } from '#shared/export/bundle/archive-names.ts';
import { type Channel, channelsOf } from './channels.ts';
import {
  type Operation,
  type OperationIndex,
  lostPaths,
  operationIndex,
  operationsOf,
  tagTitles,
} from './operations.ts';
import { parseSpecification, SpecificationRefused } from './parse-specification.ts';
import { copiesOf, notInUpload, remoteAddress } from './remote-files.ts';

/** Source of operations or channels: files and folders of the project, and the folder of the generated pages. */
export type SpecificationSource = { names: readonly string[]; directory: string };

/** A file or address that was read: OpenAPI has operations, AsyncAPI has channels. */
export type Specification = {
  kind: 'openapi' | 'asyncapi';
  file: string;
  document: JsonObject;
  operations: Operation[];
  index: OperationIndex;
  channels: Channel[];
  tags: Map<string, string>;
};

const defaultDirectory = 'api-reference';

/** Source that includes all descriptions. */
export const everywhere: SpecificationSource = { names: [], directory: defaultDirectory };

/** Reads `openapi` or `asyncapi` of docs.json or of a node: a name, a list of them, or `{ source, directory }`. Undefined if it is absent. */
export function sourceOf(value: JsonValue | undefined): SpecificationSource | undefined {
  const names = textsOf(isJsonObject(value) ? value['source'] : value);
  if (names.length === 0) return undefined;
  const directory = isJsonObject(value) ? textOf(value['directory'])?.replaceAll(/^\.?\/+|\/+$/g, '') : undefined;
  return { names, directory: directory !== undefined && isUsablePath(directory) ? directory : defaultDirectory };
}

export const isUsablePath = (path: string): boolean => archivePathProblem(path) === undefined && isSafeHref(path);

/** The API descriptions of a project, by path. Each is read once, on first use. Problems with one are reported. */
export class SpecificationFiles {
  readonly #bytes: ReadonlyMap<string, Uint8Array>;
  readonly #remote: ReadonlyMap<string, Uint8Array>;
  readonly #placeOf: (name: string) => PlaceOfName | undefined;
  readonly #report: Report;
  readonly #read = new Map<string, Specification | undefined>();
  /** Cache of the files that names stand for. */
  readonly #named = new Map<string, string[]>();

  /** `remote` has the copies of descriptions at addresses. Only copies of named addresses are read. `placeOf` finds a name in the configuration. */
  constructor(
    bytes: ReadonlyMap<string, Uint8Array>,
    remote: ReadonlyMap<string, Uint8Array>,
    placeOf: (name: string) => PlaceOfName | undefined,
    report: Report,
  ) {
    this.#bytes = bytes;
    this.#remote = remote;
    this.#placeOf = placeOf;
    this.#report = report;
  }

  /**
   * The files of a kind that a source names, or all of them if it names none. `file` contains the names. A name is a path from the folder of that
   * file or from the root of the project, a folder, or a file name without its folder if only one file has it.
   */
  *of(kind: Specification['kind'], { names }: SpecificationSource, file: string): Generator<Specification> {
    const wanted = names.length === 0 ? [...this.#bytes.keys()] : names.flatMap((name) => this.#filesNamed(name, file));
    for (const path of new Set(wanted)) {
      const specification = this.#specification(path);
      if (specification?.kind === kind) yield specification;
    }
  }

  #warn(code: FindingCode, message: string, file: string): void {
    this.#report({ severity: 'warning', code, message, file });
  }

  /** Warns about a name in `file`. If that is the configuration, the warning has the line of the name. */
  #warnOfName(code: FindingCode, message: string, name: string, file: string): void {
    const place = /^(?:docs|mint)\.json$/.test(file) ? this.#placeOf(name) : undefined;
    this.#report({ severity: 'warning', code, message, file, ...place });
  }

  #filesNamed(name: string, file: string): string[] {
    const key = `${file} ${name}`;
    const known = this.#named.get(key);
    if (known) return known;
    const found = this.#lookFor(name, file);
    this.#named.set(key, found);
    return found;
  }

  #lookFor(name: string, file: string): string[] {
    if (/^https?:/i.test(name)) return this.#copyOf(name, file);
    const path = name.replace(/^\.?\/+/, '').replace(/\/+$/, '');
    const near = name.startsWith('/') ? undefined : resolvePath(name.replace(/\/+$/, ''), file);
    for (const each of [near, path]) {
      if (each !== undefined && this.#bytes.has(each)) return [each];
    }
    const all = [...this.#bytes.keys()];
    const inside = [near, path]
      .map((folder) =>
        folder === undefined ? [] : all.filter((each) => folder === '' || each.startsWith(`${folder}/`)),
      )
      .find((found) => found.length > 0);
    if (inside !== undefined) return inside.sort();
    const alike = all.filter((each) => [nameOf(each), nameOf(each).replace(/\.[^.]+$/, '')].includes(path));
    if (alike.length > 1) {
      const message = `${quoted(name)} can mean ${alike.length} API descriptions: ${alike.slice(0, 5).map(quoted).join(', ')}. Name one of them by its path.`;
      this.#warnOfName('openapi-file-missing', message, name, file);
      return [];
    }
    if (alike.length === 0) {
      const message = `There is no API description ${quoted(path)} in the project, or its format is not supported. Add it, or correct the name.`;
      this.#warnOfName('openapi-file-missing', message, name, file);
    }
    return alike;
  }

  #copyOf(name: string, file: string): string[] {
    const address = remoteAddress(name);
    if (address !== undefined && this.#copyAt(address) !== undefined) return [address];
    this.#warnOfName(notInUpload.code, notInUpload.message(name), name, file);
    return [];
  }

  #copyAt(address: string): { name: string; bytes: Uint8Array } | undefined {
    for (const name of copiesOf(address)) {
      const bytes = this.#remote.get(name);
      if (bytes !== undefined) return { name, bytes };
    }
    return undefined;
  }

  #specification(file: string): Specification | undefined {
    if (this.#read.has(file)) return this.#read.get(file);
    let specification: Specification | undefined;
    try {
      const { name, bytes } = this.#copyAt(file) ?? { name: file, bytes: this.#bytes.get(file) ?? new Uint8Array() };
      specification = specificationOf(file, parseSpecification(bytes, name));
    } catch (error) {
      if (!(error instanceof SpecificationRefused)) throw error;
      this.#warn('openapi-not-read', `The API description is left out: it ${error.message}.`, file);
    }
    this.#read.set(file, specification);
    for (const { path, reference } of lostPaths(specification?.document ?? {})) {
      const message = `${quoted(path)} refers to ${quoted(reference)}, which is not in the file, and has no page. Only references within one file are followed: bundle the description into one.`;
      this.#warn('openapi-reference-missing', message, file);
    }
    return specification;
  }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function specificationOf(file: string, document: JsonObject): Specification {
  const isChannels = document['asyncapi'] !== undefined;
  const operations = isChannels ? [] : operationsOf(document);
  return {
    kind: isChannels ? 'asyncapi' : 'openapi',
    file,
    document,
    operations,
    index: operationIndex(operations),
    channels: isChannels ? channelsOf(document) : [],
    tags: tagTitles(document),
  };
}
