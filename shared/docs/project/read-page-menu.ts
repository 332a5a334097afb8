import { isJsonObject, type JsonValue, listOf, objectOf, objectsOf, textOf } from './json-values.ts';
import { classifyUrl } from './url-policy.ts';

/** An entry of a page's menu. `link` leads to another site, with a question about the page in its address. */
export type PageMenuItem =
  | { kind: 'copy' }
  | { kind: 'view' }
  | { kind: 'assistant' }
  | { kind: 'service'; name: string; base: string }
  | { kind: 'mcp'; client: McpClient }
  | { kind: 'link'; title: string; description?: string; icon?: string; href: string };

/** The use of the site's endpoint for agents: its address or the command that adds it is copied, or an editor adds it. */
type McpClient = 'address' | 'command' | 'cursor' | 'vscode';

export type PageMenu = { place: 'header' | 'toc'; items: PageMenuItem[] };

/** Assistants of other vendors that accept a question in their address; `base` is the part before the question. */
const services: Record<string, { name: string; base: string }> = {
  chatgpt: { name: 'ChatGPT', base: 'https://chatgpt.com/?hints=search&q=' },
  claude: { name: 'Claude', base: 'https://claude.ai/new?q=' },
  perplexity: { name: 'Perplexity', base: 'https://www.perplexity.ai/search?q=' },
  grok: { name: 'Grok', base: 'https://grok.com/?q=' },
  aistudio: { name: 'Google AI Studio', base: 'https://aistudio.google.com/prompts/new_chat?prompt=' },
};
const mcpClients: Record<string, McpClient> = {
  mcp: 'address',
  'add-mcp': 'command',
  cursor: 'cursor',
  vscode: 'vscode',
};
const ownKinds = ['copy', 'view', 'assistant'] as const;
/** Options of the format that a page cannot offer, with the reason. */
const impossible: Record<string, string> = {
  'download-pdf': 'readers can print the page to a PDF file',
  'download-spec': 'the page shows its part of the API description in words',
  ...Object.fromEntries(
    ['devin', 'devin-desktop', 'devin-mcp'].map((name) => [name, 'it takes no question and no server in an address']),
  ),
};
const mostItems = 20;
const longestText = 200;

/**
 * Reads `contextual` of docs.json or of a page. Undefined if it offers nothing. `onProblem` gets a sentence for each option that cannot be offered.
 * In the address of a project's own option `$path` stands for the path of the page.
 */
export function readPageMenu(
  contextual: JsonValue | undefined,
  path: string,
  onProblem: (problem: string) => void = () => undefined,
): PageMenu | undefined {
  const { options, display } = objectOf(Array.isArray(contextual) ? { options: contextual } : contextual);
  const items = listOf(options)
    .slice(0, mostItems)
    .flatMap((option): PageMenuItem[] => {
      const name = textOf(option) ?? '';
      const own = ownKinds.find((kind) => kind === name);
      if (own !== undefined) return [{ kind: own }];
      const client = Object.hasOwn(mcpClients, name) ? mcpClients[name] : undefined;
      if (client !== undefined) return [{ kind: 'mcp', client }];
      if (isJsonObject(option)) return optionOf(option, path, onProblem);
      const service = Object.hasOwn(services, name) ? services[name] : undefined;
      if (service !== undefined) return [{ kind: 'service', ...service }];
      const why = Object.hasOwn(impossible, name) ? impossible[name] : 'there is no such option';
      onProblem(`"contextual.options": ${JSON.stringify(name.slice(0, 60))} has no effect: ${why}.`);
      return [];
    });
  return items.length === 0 ? undefined : { place: display === 'toc' ? 'toc' : 'header', items };
}

function optionOf(
  option: { [key: string]: JsonValue },
  path: string,
  onProblem: (problem: string) => void,
): PageMenuItem[] {
  const title = textOf(option['title'])?.slice(0, longestText);
  const href = hrefOf(option['href']);
  const url = href === undefined ? undefined : classifyUrl(href.replaceAll('$path', encodeURIComponent(`/${path}`)));
  const named = JSON.stringify(title ?? '');
  if (title === undefined || href === undefined || url?.kind !== 'external' || !/^https?:/.test(url.href)) {
    onProblem(`"contextual.options": ${named} has no effect: it needs "title", and "href" with an https address.`);
    return [];
  }
  if (/(?:\$|%24)(?:page|mcp)\b/.test(href)) {
    onProblem(`"contextual.options": ${named} has no effect: an address cannot contain a whole page. Use "$path".`);
    return [];
  }
  const [description, icon] = [textOf(option['description'])?.slice(0, longestText), textOf(option['icon'])];
  return [
    {
      kind: 'link',
      title,
      href: url.href,
      ...(description !== undefined && { description }),
      ...(icon !== undefined && { icon }),
    },
  ];
}

/** An address, or `{ base, query }`. */
function hrefOf(written: JsonValue | undefined): string | undefined {
  if (!isJsonObject(written)) return textOf(written);
  const base = textOf(written['base']);
  const query = objectsOf(written['query']).flatMap((pair) => {
    const [key, value] = [textOf(pair['key'])?.toWellFormed(), textOf(pair['value'])?.toWellFormed()];
    // `$` stays unencoded, so that placeholders are found later.
    return key === undefined || value === undefined
      ? []
      : [`${encodeURIComponent(key)}=${encodeURIComponent(value).replaceAll('%24', '$')}`];
  });
  if (base === undefined || query.length === 0) return base;
  return `${base}${base.includes('?') ? '&' : '?'}${query.join('&')}`;
}
