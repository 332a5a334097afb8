import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { serveEditor } from './language-server.ts';

/**
 * Runs the language server over standard input and output, until the editor ends it, closes the streams or dies: the library watches all three. A
 * message that is no valid one ends the connection.
 */
export function runLsp(): void {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
  serveEditor(connection);
  connection.listen();
}
