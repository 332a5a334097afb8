import { McpServer } from '@modelcontextprotocol/server';
import { programVersion } from '#shared/runtime/program-version.ts';
import { addDocsResources } from './docs-resources.ts';
import type { DocsSource } from './docs-source.ts';
import { addDocsTools } from './docs-tools.ts';

/**
 * A server of the Model Context Protocol over a documentation. It keeps nothing between messages, so each request may have a new one.
 * `name`: the name of the domain; `title`: the name that people see.
 */
export function docsServer(source: DocsSource, { name, title }: { name: string; title: string }): McpServer {
  const server = new McpServer(
    { name, title, version: programVersion },
    {
      // A server without sessions tells nobody of changes.
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
        completions: {},
      },
      instructions: `This is the documentation of ${title}. Use "search" for questions, "find_in_pages" for exact names and error messages, "read_page" for whole pages, and "list_pages" for an overview. Cite the addresses of the pages that you use.`,
      maxToolInputElements: 200,
    },
  );
  addDocsTools(server, source);
  addDocsResources(server, source);
  return server;
}
