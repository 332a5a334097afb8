import { busPage } from './bus-page.ts';
import { commandsPage } from './commands-page.ts';
import { docsSchemaFile } from '#shared/docs/format/docs-schema.ts';
import { errorTable } from '#shared/http/errors.ts';
import { code, markdownTable, page, plain } from './markdown.ts';
import { interfaceDescription } from './interface-description.ts';
import { findingsPage } from './findings-page.ts';
import { formatPage } from './format-page.ts';
import { settingsPage } from './settings-page.ts';

/**
 * Files of our documentation that are generated from the code, by their path in `infra/docs`: pages, the OpenAPI description behind the API pages, and
 * the JSON schema of `docs.json`.
 */
export async function referencePages(): Promise<Record<string, string>> {
  return {
    'openapi.json': interfaceDescription(),
    [docsSchemaFile.name]: docsSchemaFile.text(),
    'reference/settings.mdx': settingsPage(),
    'reference/commands.mdx': await commandsPage(),
    'reference/errors.mdx': errorsPage(),
    'reference/bus.mdx': busPage(),
    'reference/format.mdx': formatPage(),
    'reference/findings.mdx': findingsPage(),
  };
}

function errorsPage(): string {
  const rows = Object.entries(errorTable).map(([name, { status, retry, sentence }]) => [
    code(name),
    String(status),
    retry ? 'yes' : 'no',
    plain(sentence),
  ]);
  return page(
    'Error codes',
    'Every error code of the public interface.',
    'The body of every error is described under [errors](/interfaces/errors). The sentence of a single answer may say more.',
    markdownTable(['code', 'status', 'may work later without a change', 'sentence'], rows),
  );
}
