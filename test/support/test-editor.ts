import { type ChildProcess, spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import {
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
  type TextDocumentContentChangeEvent,
} from 'vscode-languageserver-protocol/node';

/** An editor of tests: it starts the server as editors do, and keeps the diagnostics of each file. */
export type TestEditor = {
  child: ChildProcess;
  connection: ProtocolConnection;
  server: InitializeResult;
  uriOf: (file: string) => string;
  /** The published diagnostics of a file, by address; undefined before the first ones. */
  diagnostics: Map<string, Diagnostic[]>;
  codesOf: (file: string) => string[] | undefined;
  open: (file: string, text: string, uri?: string) => Promise<void>;
  change: (file: string, changes: TextDocumentContentChangeEvent[] | string, uri?: string) => Promise<void>;
  close: (file: string) => Promise<void>;
  ended: Promise<number | null>;
};

export type EditorOptions = {
  folder: string;
  /** The command and its first arguments. */
  command: readonly string[];
  capabilities?: object;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Process of the editor, which the server watches. */
  processId?: number;
};

export async function startEditor({
  folder,
  command,
  capabilities = {},
  cwd,
  env,
  processId = process.pid,
}: EditorOptions): Promise<TestEditor> {
  const [program = '', ...args] = command;
  const child = spawn(program, [...args, 'lsp', '--stdio'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  });
  const ended = new Promise<number | null>((resolve) => void child.once('exit', (code) => resolve(code)));
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.onError(() => undefined);
  const diagnostics = new Map<string, Diagnostic[]>();
  connection.onNotification(
    PublishDiagnosticsNotification.type,
    ({ uri, diagnostics: found }) => void diagnostics.set(uri, found),
  );
  connection.listen();
  const uriOf = (file: string): string => pathToFileURL(join(folder, file)).href;
  const versions = new Map<string, number>();
  const next = (uri: string): number => {
    versions.set(uri, (versions.get(uri) ?? 0) + 1);
    return versions.get(uri) ?? 0;
  };
  const server = await connection.sendRequest(InitializeRequest.type, {
    processId,
    rootUri: pathToFileURL(folder).href,
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'docs' }],
    capabilities: {
      textDocument: { completion: { completionItem: { snippetSupport: true } } },
      ...capabilities,
    },
  });
  await connection.sendNotification(InitializedNotification.type, {});
  return {
    child,
    connection,
    server,
    uriOf,
    diagnostics,
    codesOf: (file) => diagnostics.get(uriOf(file))?.map(({ code }) => String(code)),
    open: (file, text, uri = uriOf(file)) =>
      connection.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { uri, languageId: file.endsWith('.json') ? 'json' : 'mdx', version: next(uri), text },
      }),
    change: (file, changes, uri = uriOf(file)) =>
      connection.sendNotification(DidChangeTextDocumentNotification.type, {
        textDocument: { uri, version: next(uri) },
        contentChanges: typeof changes === 'string' ? [{ text: changes }] : changes,
      }),
    close: (file) =>
      connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri: uriOf(file) } }),
    ended,
  };
}
