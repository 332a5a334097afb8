import type { CheckFinding } from '../check/check-folder.ts';

/** Changes of a project: texts of open documents (undefined for closed ones), and names of files that may have changed on disk. */
export type ProjectChange = {
  texts: [path: string, text: string | undefined][];
  /** Files that changed outside of the editor. Undefined means that any file may have changed. */
  disk: string[] | undefined;
};

/** Questions to the thread that holds a project (`project-thread.ts`). They are answered one after the other. */
export type ProjectQuestion =
  /** Reads the project. `skipped`: digests of sources that ended a thread before, which are not rendered again. */
  | { kind: 'open'; folder: string; skipped: readonly string[] }
  | { kind: 'change'; change: ProjectChange }
  /** The findings of open documents, and of those that depend on them. */
  | { kind: 'findings'; open: readonly string[] }
  /** The anchors of a page, by the file of the page. */
  | { kind: 'anchors'; file: string }
  /** The links of a document to files of the project. */
  | { kind: 'links'; file: string }
  /** The texts to change when files are renamed. */
  | { kind: 'rename'; files: readonly { from: string; to: string }[] };

/** The answers by the kinds of questions. */
export type ProjectAnswers = {
  open: ProjectOutline;
  /** Undefined if nothing in the outline changed. */
  change: ProjectOutline | undefined;
  findings: [file: string, found: CheckFinding[]][];
  anchors: string[];
  links: FileLink[];
  rename: FileEdit[];
};

/** Everything that completion needs to know of a project. */
export type ProjectOutline = {
  pages: { path: string; file: string; title: string; description?: string; inNavigation: boolean }[];
  snippets: string[];
  /** Other files that pages and settings can name, such as pictures. */
  files: string[];
  iconLibrary: 'fontawesome' | 'lucide' | 'tabler';
  variables: string[];
};

/** A link in a text: offsets of its address, and the file that it leads to. */
export type FileLink = { start: number; end: number; file: string; anchor?: string };

/** A change of a text. */
export type FileEdit = { file: string; start: number; end: number; text: string };

/** Messages of the thread. `alive`: a sign of life, with the source that it renders next. */
export type ThreadMessage =
  | { kind: 'alive'; rendering?: { file: string; digest: string } }
  | { kind: 'answered'; id: number; answer: unknown }
  | { kind: 'failed'; id: number; why: string };
