import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { PageFacts, SegmentSidecar } from '#shared/contracts/stored-objects.ts';

/*
 * Facts of some consecutive segments of a bundle, folded for the closing segment. A part depends only on the sidecars of its segments, so it is made
 * once and kept while they stay the same. Lists that most closings do not read (the links of a page whose targets all exist) are JSON in a string,
 * which is parsed when it is needed: a large site has millions of their values.
 */

/** A list as JSON. */
type ListText = string;

/** A page of a part. `segment` is the index of its segment in the part, `links` are indexes in the part's `targets`. */
export type PartPage = Pick<
  PageFacts,
  'path' | 'title' | 'description' | 'searchCharacters' | 'searchBytes' | 'fullTextBytes'
> & {
  segment: number;
  anchors: ListText;
  links: ListText;
  linkLines?: ListText;
  linkColumns?: ListText;
  linkFiles?: ListText;
  classes?: ListText;
};

export type PageFeed = Pick<PageFacts, 'path' | 'title' | 'description' | 'feedItems'>;

export type ClosingPart = {
  /** Files of the segments by their paths in the bundle, without its top folder. */
  files: [path: string, size: number, sha256: string][];
  pages: PartPage[];
  /** Targets of the links of the part's pages, each once. */
  targets: string[];
  /** Class names of the part's pages, each once, by their first use. */
  classes: string[];
  mathFonts: string[];
  /** Names of the texts that playgrounds use. */
  playgrounds: string[];
  hasDiagrams: boolean;
  hasIslands: boolean;
  failed: { path: string; reason: string }[];
  /** Diagnostics of the pages that have any, with the place of the page in this part. */
  diagnostics: [page: number, found: readonly Diagnostic[]][];
  feeds: PageFeed[];
};

/** Folds sidecars into a part, one after the other. `topFolder` ends with a slash, and is removed from the paths of files. */
export function closingPart(topFolder: string): { add: (sidecar: SegmentSidecar) => void; part: ClosingPart } {
  const targets = places();
  const classes = new Set<string>();
  const mathFonts = new Set<string>();
  const playgrounds = new Set<string>();
  const sets = { targets: targets.names, classes: [], mathFonts: [], playgrounds: [] };
  const part: ClosingPart = {
    ...{ files: [], pages: [], failed: [], diagnostics: [], feeds: [], ...sets },
    ...{ hasDiagrams: false, hasIslands: false },
  };
  const once = (names: string[], known: Set<string>, added: Iterable<string>): void => {
    for (const name of added) {
      if (known.has(name)) continue;
      known.add(name);
      names.push(name);
    }
  };
  let segment = 0;
  return {
    part,
    add({ files, pages }) {
      for (const { path, size, sha256 } of files)
        part.files.push([path.startsWith(topFolder) ? path.slice(topFolder.length) : path, size, sha256]);
      for (const page of pages) {
        const { path, title, description, searchCharacters, searchBytes, fullTextBytes } = page;
        if (page.diagnostics.length > 0) part.diagnostics.push([part.pages.length, page.diagnostics]);
        part.pages.push({
          ...{ path, title, searchCharacters, searchBytes, fullTextBytes, segment },
          anchors: JSON.stringify(page.anchors),
          links: JSON.stringify(page.links.map(targets.placeOf)),
          ...(description !== undefined && { description }),
          ...(page.linkLines && { linkLines: JSON.stringify(page.linkLines) }),
          ...(page.linkColumns && { linkColumns: JSON.stringify(page.linkColumns) }),
          ...(page.linkFiles && { linkFiles: JSON.stringify(page.linkFiles) }),
          ...(page.classes.length > 0 && { classes: JSON.stringify(page.classes) }),
        });
        once(part.classes, classes, page.classes);
        once(part.mathFonts, mathFonts, page.mathFonts ?? []);
        if (page.playground !== undefined) once(part.playgrounds, playgrounds, [page.playground]);
        part.hasDiagrams ||= page.hasDiagrams === true;
        part.hasIslands ||= page.hasIslands === true;
        if (page.failure !== undefined) part.failed.push({ path, reason: page.failure });
        const { feedItems } = page;
        if (feedItems.length > 0)
          part.feeds.push({ path, title, ...(description !== undefined && { description }), feedItems });
      }
      segment += 1;
    },
  };
}

/** Numbers different names by their places in a list. */
function places(): { names: string[]; placeOf: (name: string) => number } {
  const known = new Map<string, number>();
  const names: string[] = [];
  return {
    names,
    placeOf(name) {
      const place = known.get(name) ?? names.length;
      if (place === names.length) {
        known.set(name, place);
        names.push(name);
      }
      return place;
    },
  };
}

/** Parses a list of a page. */
export const listOf = <T>(text: ListText | undefined): T[] => (text === undefined ? [] : (JSON.parse(text) as T[]));
