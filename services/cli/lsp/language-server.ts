import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import {
  type ClientCapabilities,
  type CodeAction,
  CodeActionKind,
  type Connection,
  DidChangeWatchedFilesNotification,
  type InitializeResult,
  type Location,
  TextDocuments,
  TextDocumentSyncKind,
  type TextEdit,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { messageOf } from '#shared/runtime/failures.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { type FolderWatch, watchFolder } from '../dev/watch-folder.ts';
import { completionsAt } from './complete.ts';
import { editsOf } from './diagnostics.ts';
import { pathOfUri, placeOfUri, type ProjectPlace, uriOfPath } from './document-address.ts';
import { hoverAt } from './hover.ts';
import { type OpenProject, openProject } from './open-project.ts';
import type { FileLink } from './project-questions.ts';

/** Files whose changes outside of the editor matter. */
const watchedFiles = '**/*.{mdx,md,json,yaml,yml,jsx,tsx,js,css,svg,png,jpg,jpeg,gif,webp,avif,ico,mintignore}';
/** Time after which a project without open documents is closed. */
const idleMs = 60_000;
/** Largest document that is checked while it is open. Rendering refuses pages long before. */
const mostCharacters = 16 * 1024 * 1024;

const fixAll = `${CodeActionKind.SourceFixAll}.bindery`;

/**
 * Answers an editor about docs projects over the Language Server Protocol. Each project is read and checked in a thread of its own, which starts with
 * its first open document; requests about other files get empty answers.
 */
export function serveEditor(connection: Connection): void {
  const projects = new Map<string, { project: OpenProject; watch?: Promise<FolderWatch>; idle?: NodeJS.Timeout }>();
  const places = new Map<string, ProjectPlace>();
  let capabilities: ClientCapabilities = {};

  const documents = new TextDocuments(TextDocument);
  const log = (sentence: string): void => connection.console.info(sentence);

  const placeOf = (uri: string): ProjectPlace | undefined =>
    places.get(uri) ?? placeOfUri(uri, (folder) => projects.has(folder));

  /** The project of a document or file that is open. */
  function projectOf(uri: string): { project: OpenProject; place: ProjectPlace } | undefined {
    const place = placeOf(uri);
    const known = place && projects.get(place.root);
    return known && { project: known.project, place };
  }

  function startProject(root: string): OpenProject {
    const known = projects.get(root);
    if (known !== undefined) {
      clearTimeout(known.idle);
      return known.project;
    }
    const project = openProject({
      root,
      log,
      publish: (uri, version, diagnostics) =>
        void connection
          .sendDiagnostics({ uri, diagnostics, ...(version !== undefined && { version }) })
          .catch(() => undefined),
    });
    const isWatched = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    projects.set(root, { project, ...(!isWatched && { watch: ownWatch(root, project) }) });
    return project;
  }

  const ownWatch = (root: string, project: OpenProject): Promise<FolderWatch> =>
    watchFolder(root, {
      onChange: (names) => project.changedOnDisk(names),
      onLost: (reason) => log(`Changes of ${root} outside of the editor are found by polling: ${reason}`),
    });

  function closeProject(root: string): void {
    const known = projects.get(root);
    projects.delete(root);
    known?.project.close();
    known?.watch?.then((watch) => watch.close()).catch(() => undefined);
  }

  connection.onInitialize(({ capabilities: own }): InitializeResult => {
    capabilities = own;
    const filters = [
      { scheme: 'file', pattern: { glob: watchedFiles } },
      { scheme: 'file', pattern: { glob: '**', matches: 'folder' as const } },
    ];
    return {
      serverInfo: { name: 'bindery', version: programVersion },
      capabilities: {
        positionEncoding: 'utf-16',
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        completionProvider: { triggerCharacters: ['/', '#', '<', '"', "'", '(', ' ', ':'] },
        hoverProvider: true,
        definitionProvider: true,
        documentLinkProvider: {},
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, fixAll] },
        workspace: {
          workspaceFolders: { supported: true, changeNotifications: true },
          fileOperations: { willRename: { filters } },
        },
      },
    };
  });

  connection.onInitialized(() => {
    if (capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration !== true) return;
    const watchers = [{ globPattern: watchedFiles }];
    connection.client
      .register(DidChangeWatchedFilesNotification.type, { watchers })
      .catch((error: unknown) => log(messageOf(error)));
  });

  documents.onDidOpen(({ document }) => {
    const place = placeOfUri(document.uri, (folder) => projects.has(folder) || isOpenConfig(folder));
    if (place === undefined || document.getText().length > mostCharacters) return;
    places.set(document.uri, place);
    startProject(place.root).opened(place.file, document);
  });
  documents.onDidChangeContent(({ document }) => {
    const found = projectOf(document.uri);
    if (found?.project.documents.get(found.place.file) === document) found.project.changed(found.place.file);
  });
  documents.onDidClose(({ document }) => {
    const found = projectOf(document.uri);
    places.delete(document.uri);
    if (found?.project.documents.get(found.place.file) !== document) return;
    const { project, place } = found;
    project.closed(place.file);
    const known = projects.get(place.root);
    if (project.documents.size === 0 && known !== undefined) {
      known.idle = setTimeout(() => closeProject(place.root), idleMs);
      known.idle.unref();
    }
  });
  /** True for the folder of a `docs.json` that is open and not saved yet. */
  const isOpenConfig = (folder: string): boolean => documents.get(uriOfPath(join(folder, 'docs.json'))) !== undefined;

  connection.onDidChangeWatchedFiles(({ changes }) => {
    const paths = changes.flatMap(({ uri }) => pathOfUri(uri) ?? []);
    for (const [root, { project }] of projects) {
      const own = paths.map((path) => relative(root, path)).filter((path) => path !== '' && !path.startsWith('..'));
      if (own.length > 0) project.changedOnDisk(own.map((path) => path.split(sep).join('/')));
    }
  });
  // Projects belong to documents and not to folders, so a folder that is added or removed changes nothing else.
  connection.onDidChangeConfiguration(() => undefined);

  connection.onCompletion(async ({ textDocument, position }, token) => {
    const document = documents.get(textDocument.uri);
    const found = projectOf(textDocument.uri);
    if (document === undefined || found === undefined) return null;
    const { project, place } = found;
    const outline = await project.outline();
    if (outline === undefined || token.isCancellationRequested) return null;
    return completionsAt(document, document.offsetAt(position), {
      file: place.file,
      outline,
      anchorsOf: (file) => project.ask<'anchors'>({ kind: 'anchors', file }),
      snippets: capabilities.textDocument?.completion?.completionItem?.snippetSupport === true,
    });
  });

  connection.onHover(({ textDocument, position }) => {
    const document = documents.get(textDocument.uri);
    const place = placeOf(textDocument.uri);
    return document === undefined || place === undefined
      ? null
      : hoverAt(document, document.offsetAt(position), place.file);
  });

  async function linksOf(
    uri: string,
  ): Promise<{ document: TextDocument; root: string; links: FileLink[] } | undefined> {
    const document = documents.get(uri);
    const found = projectOf(uri);
    if (document === undefined || found === undefined) return undefined;
    const links = await found.project.ask<'links'>({ kind: 'links', file: found.place.file });
    return { document, root: found.place.root, links };
  }

  connection.onDocumentLinks(async ({ textDocument }, token) => {
    const found = token.isCancellationRequested ? undefined : await linksOf(textDocument.uri);
    return (
      found?.links.map(({ start, end, file }) => ({
        range: { start: found.document.positionAt(start), end: found.document.positionAt(end) },
        target: uriOfPath(join(found.root, file)),
      })) ?? null
    );
  });

  connection.onDefinition(async ({ textDocument, position }, token): Promise<Location | null> => {
    const found = token.isCancellationRequested ? undefined : await linksOf(textDocument.uri);
    if (found === undefined) return null;
    const offset = found.document.offsetAt(position);
    const link = found.links.find(({ start, end }) => start <= offset && offset <= end);
    if (link === undefined) return null;
    const path = join(found.root, link.file);
    const open = [...places].find(([, place]) => place.root === found.root && place.file === link.file)?.[0];
    const line = link.anchor === undefined ? 0 : headingLine(await textAt(path, open), link.anchor);
    const at = { line, character: 0 };
    return { uri: open ?? uriOfPath(path), range: { start: at, end: at } };
  });

  const textAt = async (path: string, uri: string | undefined): Promise<string> =>
    (uri === undefined ? undefined : documents.get(uri)?.getText()) ?? (await readFile(path, 'utf8').catch(() => ''));

  connection.onCodeAction(({ textDocument, range, context }): CodeAction[] | null => {
    const document = documents.get(textDocument.uri);
    const found = projectOf(textDocument.uri);
    if (document === undefined || found === undefined) return null;
    const repairable = found.project
      .findingsOf(found.place.file)
      .filter(({ repair }) => repair?.file === found.place.file);
    const isWanted = (kind: string): boolean =>
      context.only?.some((each) => kind === each || kind.startsWith(`${each}.`)) ?? true;
    const changes = (edits: TextEdit[]) => ({ changes: { [textDocument.uri]: edits } });
    const actions = (isWanted(CodeActionKind.QuickFix) ? repairable : []).flatMap(
      ({ finding, repair }): CodeAction[] => {
        const row = (finding.line ?? 1) - 1;
        const edits =
          repair === undefined || row < range.start.line || row > range.end.line ? [] : editsOf(document, [repair]);
        const of = context.diagnostics.filter(
          ({ message, code }) => message === finding.message && code === finding.code,
        );
        if (edits.length === 0) return [];
        const title = repair?.kind === 'address' ? `Change the address to ${repair.to}` : `Repair: ${finding.message}`;
        return [
          {
            title,
            kind: CodeActionKind.QuickFix,
            edit: changes(edits),
            isPreferred: true,
            ...(of.length > 0 && { diagnostics: of }),
          },
        ];
      },
    );
    const all = isWanted(fixAll)
      ? editsOf(
          document,
          repairable.flatMap(({ repair }) => repair ?? []),
        )
      : [];
    if (all.length > 0)
      actions.push({ title: 'Repair everything that has one right repair', kind: fixAll, edit: changes(all) });
    return actions;
  });

  connection.workspace.onWillRenameFiles(async ({ files }) => {
    const byRoot = new Map<string, { from: string; to: string }[]>();
    for (const { oldUri, newUri } of files) {
      const place = placeOfUri(oldUri);
      const path = pathOfUri(newUri);
      const to = place && path !== undefined ? relative(place.root, path).split(sep).join('/') : '..';
      if (place === undefined || to.startsWith('..')) continue;
      byRoot.set(place.root, [...(byRoot.get(place.root) ?? []), { from: place.file, to }]);
    }
    const changes: Record<string, TextEdit[]> = {};
    for (const [root, renamed] of byRoot) {
      const project = startProject(root);
      const edits = await project.ask<'rename'>({ kind: 'rename', files: renamed });
      for (const [file, own] of Map.groupBy(edits, (edit) => edit.file)) {
        const open = [...places].find(([, place]) => place.root === root && place.file === file)?.[0];
        const uri = open ?? uriOfPath(join(root, file));
        const document = documents.get(uri) ?? TextDocument.create(uri, 'mdx', 0, await textAt(join(root, file), open));
        changes[uri] = own.map(({ start, end, text }) => ({
          range: { start: document.positionAt(start), end: document.positionAt(end) },
          newText: text,
        }));
      }
    }
    return Object.keys(changes).length === 0 ? null : { changes };
  });

  connection.onShutdown(() => {
    for (const root of [...projects.keys()]) closeProject(root);
  });
  documents.listen(connection);
}

/** The line of the heading, or of the component with the title, that an anchor names; 0 if none is found. */
function headingLine(text: string, anchor: string): number {
  const keyOf = (words: string): string => words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  const wanted = keyOf(decodeURIComponent(anchor.replaceAll(/%(?![\da-f]{2})/gi, '%25')));
  const found = text.split(/\r\n|\r|\n/).findIndex((line) => {
    const heading = /^\s*#{1,6}\s+(.+?)(?:\s*\{#([^}]+)\})?\s*#*\s*$/.exec(line);
    const named = /\b(?:title|label|id|name|path|query|body|header)=["']([^"']+)["']/.exec(line)?.[1];
    return [heading?.[2], heading?.[1], named].some((words) => words !== undefined && keyOf(words) === wanted);
  });
  return Math.max(0, found);
}
