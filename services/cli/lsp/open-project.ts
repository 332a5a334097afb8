import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostic } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { messageOf } from '#shared/runtime/failures.ts';
import type { CheckFinding } from '../check/check-folder.ts';
import { diagnosticOf } from './diagnostics.ts';
import { uriOfPath } from './document-address.ts';
import { projectClient, ProjectLost } from './project-client.ts';
import type { ProjectAnswers, ProjectOutline, ProjectQuestion } from './project-questions.ts';

/** Pause of typing after which documents are checked. */
const calmMs = 120;

export type OpenProjectOptions = {
  root: string;
  publish: (uri: string, version: number | undefined, diagnostics: Diagnostic[]) => void;
  log: (sentence: string) => void;
  silenceMs?: number;
};

/** A project with open documents. */
export type OpenProject = ReturnType<typeof openProject>;

/** Holds the open documents of a project, and checks them after each change once the author pauses. */
export function openProject({ root, publish, log, silenceMs }: OpenProjectOptions) {
  const documents = new Map<string, TextDocument>();
  /** Documents whose texts the thread does not have. */
  const dirty = new Set<string>();
  const disk = new Set<string>();
  let isAnyOnDisk = false;
  let outline: ProjectOutline | undefined;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> | undefined;
  let isAgain = false;
  let isClosed = false;
  /** The findings of the last check by file, and the addresses with published diagnostics. */
  let findings = new Map<string, CheckFinding[]>();
  const published = new Map<string, string>();
  const client = projectClient({
    folder: root,
    onRead: (read) => {
      outline = read;
    },
    ...(silenceMs !== undefined && { silenceMs }),
  });

  /** Sends everything that the thread does not know yet. Questions after it are answered with it. */
  async function sync(): Promise<void> {
    if (!client.isRunning()) for (const file of documents.keys()) dirty.add(file);
    if (dirty.size === 0 && disk.size === 0 && !isAnyOnDisk) return;
    const texts = [...dirty].map((file): [string, string | undefined] => [file, documents.get(file)?.getText()]);
    const names = isAnyOnDisk ? undefined : [...disk];
    dirty.clear();
    disk.clear();
    isAnyOnDisk = false;
    outline = (await client.ask<'change'>({ kind: 'change', change: { texts, disk: names } })) ?? outline;
  }

  /** Asks the thread, once again if it was lost, with all documents. */
  async function ask<K extends ProjectQuestion['kind']>(
    question: Extract<ProjectQuestion, { kind: K }>,
  ): Promise<ProjectAnswers[K]> {
    try {
      await sync();
      return await client.ask<K>(question);
    } catch (error) {
      if (!(error instanceof ProjectLost) || isClosed) throw error;
      log(error.message);
      await sync();
      return await client.ask<K>(question);
    }
  }

  function schedule(): void {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(check, calmMs);
  }

  function check(): void {
    if (checking !== undefined) {
      isAgain = true;
      return;
    }
    checking = checkNow()
      .catch((error: unknown) => {
        if (!isClosed) log(`${root} cannot be checked: ${messageOf(error)}`);
      })
      .finally(() => {
        checking = undefined;
        if (isAgain) schedule();
        isAgain = false;
      });
  }

  async function checkNow(): Promise<void> {
    const versions = new Map([...documents].map(([file, { version }]) => [file, version]));
    const found = await ask<'findings'>({ kind: 'findings', open: [...documents.keys()] });
    if (isClosed) return;
    findings = new Map(found);
    const now = new Set<string>();
    for (const [file, own] of found) {
      const document = documents.get(file);
      const uri = document?.uri ?? uriOfPath(join(root, file));
      now.add(uri);
      // A later check publishes the findings of a document that has changed meanwhile.
      if (document !== undefined && document.version !== versions.get(file)) continue;
      const shown = document ?? TextDocument.create(uri, 'mdx', 0, own.length === 0 ? '' : await textOnDisk(file));
      say(
        uri,
        document?.version,
        own.map((one) => diagnosticOf(shown, one)),
      );
    }
    for (const uri of published.keys()) if (!now.has(uri)) say(uri, undefined, []);
  }

  const textOnDisk = (file: string): Promise<string> => readFile(join(root, file), 'utf8').catch(() => '');

  function say(uri: string, version: number | undefined, diagnostics: Diagnostic[]): void {
    const text = JSON.stringify(diagnostics);
    if ((published.get(uri) ?? '[]') === text) return;
    if (diagnostics.length === 0) published.delete(uri);
    else published.set(uri, text);
    publish(uri, version, diagnostics);
  }

  return {
    root,
    documents,
    ask,
    outline: async (): Promise<ProjectOutline | undefined> => {
      await sync().catch(() => undefined);
      // A project that is read for the first time has its outline when the thread answers.
      if (outline === undefined)
        await client.ask<'change'>({ kind: 'change', change: { texts: [], disk: [] } }).catch(() => undefined);
      return outline;
    },
    findingsOf: (file: string): readonly CheckFinding[] => findings.get(file) ?? [],
    opened(file: string, document: TextDocument): void {
      documents.set(file, document);
      dirty.add(file);
      schedule();
    },
    changed(file: string): void {
      dirty.add(file);
      schedule();
    },
    closed(file: string): void {
      const uri = documents.get(file)?.uri;
      documents.delete(file);
      dirty.add(file);
      if (uri !== undefined) say(uri, undefined, []);
      schedule();
    },
    /** Called when files changed outside of the editor. Undefined means that any file may have changed. */
    changedOnDisk(files: readonly string[] | undefined): void {
      if (files === undefined) isAnyOnDisk = true;
      else for (const file of files) disk.add(file);
      schedule();
    },
    /** Takes the diagnostics back and ends the thread. */
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      for (const uri of published.keys()) publish(uri, undefined, []);
      client.close();
    },
  };
}
