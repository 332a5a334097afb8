import { describe, expect, test } from 'vitest';
import { renderedContent } from '../test-project.ts';

/** Name, source, and patterns that its HTML and its Markdown must match. */
const cases: [name: string, source: string, html: RegExp[], markdown: RegExp[]][] = [
  [
    'Note',
    '<Note>Read **this**.</Note>',
    [/class="callout callout-note"/, /<strong>this<\/strong>/],
    [/> \*\*Note\*\*\n>\n> Read \*\*this\*\*\./],
  ],
  [
    'Warning with blocks',
    '<Warning>\n\nOne.\n\n- two\n\n</Warning>',
    [/callout-warning/, /<li>two<\/li>/],
    [/> One\.\n>\n> - two/],
  ],
  ['Callout', '<Callout icon="key" color="#ff0000">X</Callout>', [/--callout: #ff0000/, /callout-icon/], []],
  [
    'Callout with a bad colour',
    '<Callout color="red;position:fixed">X</Callout>',
    [/^(?!.*position).*callout-custom/s],
    [],
  ],
  [
    'Card',
    '<Card title="Go" href="/other" icon="rocket">There</Card>',
    [/<a class="card-link" href="\.\/other\.html">Go<\/a>/, /card-icon/],
    [/\[Go\]\(\/other\)/, /There/],
  ],
  [
    'Card elsewhere',
    '<Card title="Go" href="https://example.com">x</Card>',
    [/target="_blank" rel="noopener noreferrer"/, /card-arrow/],
    [],
  ],
  [
    'CardGroup',
    '<CardGroup cols={3}><Card title="A" /><Card title="B" /></CardGroup>',
    [/class="card-group columns cols-3"/],
    [/\*\*A\*\*\n\n\*\*B\*\*/],
  ],
  [
    'Tabs',
    '<Tabs><Tab title="One">1</Tab><Tab title="Two">2</Tab></Tabs>',
    [/role="tablist"/, /data-title="Two"/, /id="one"[^>]*data-title="One"[^>]*data-active/],
    [/\*\*One\*\*\n\n1\n\n\*\*Two\*\*\n\n2/],
  ],
  [
    'Tabs named by their parent',
    '<Tabs items={["One", "Two"]}>\n<Tabs.Tab>1</Tabs.Tab>\n<Tabs.Tab title="Own">2</Tabs.Tab>\n</Tabs>',
    [/id="one"[^>]*data-title="One"[^>]*data-active/, /data-title="Own"/],
    [/\*\*One\*\*\n\n1\n\n\*\*Own\*\*\n\n2/],
  ],
  [
    'Tabs on their own',
    '<Tabs sync={false} defaultTabIndex={1}><Tab title="A">1</Tab><Tab title="B">2</Tab></Tabs>',
    [/<div class="tabs"><div/, /data-title="B" data-active/],
    [],
  ],
  [
    'CodeGroup',
    '<CodeGroup>\n\n```js One\na\n```\n\n```py Two\nb\n```\n\n</CodeGroup>',
    [/data-title="One" data-active/, /data-title="Two"/],
    [/```js One\na\n```/],
  ],
  [
    'Accordion',
    '<Accordion title="More" defaultOpen>x</Accordion>',
    [/<details class="accordion" id="more" open>/],
    [/\*\*More\*\*\n\nx/],
  ],
  ['Expandable', '<Expandable title="pet">x</Expandable>', [/<details class="expandable">/, /Show pet/], []],
  [
    'Steps',
    '<Steps titleSize="h2"><Step title="First">a</Step><Step title="Second">b</Step></Steps>',
    [/<h2 class="step-title">First<\/h2>/, /id="second"/],
    [/1\. \*\*First\*\*\n\n {3}a\n\n2\. \*\*Second\*\*/],
  ],
  [
    'Frame',
    '<Frame caption="A [link](/x)">\n![alt](https://example.com/a.png)\n</Frame>',
    [/<figcaption>A <a/, /<img src="https:\/\/example\.com\/a\.png" alt="alt">/],
    [/!\[alt\]/],
  ],
  [
    'Icon',
    'See <Icon icon="rocket" size={20} className="mx-1" /> and <Icon icon="🚀" />.',
    [
      /<svg class="icon inline-icon mx-1"/,
      /width: 20px/,
      /<span class="icon inline-icon emoji" aria-hidden="true">🚀</,
    ],
    [/See {1,2}and/],
  ],
  [
    'ParamField',
    '<ParamField query="limit" type="integer" required default="10">How many</ParamField>',
    [/id="param-limit"/, />required</, />query</, /default: <code>10<\/code>/],
    [/- `limit` \(integer, query, required, default: 10\)/],
  ],
  [
    'ResponseField',
    '<ResponseField name="id" type="string" deprecated pre={["a"]}>x</ResponseField>',
    [/<code class="deprecated"><a/, /field-pre">a</],
    [/- `id` \(string, a, deprecated\)/],
  ],
  [
    'RequestExample',
    '<RequestExample>\n\n```bash cURL\ncurl x\n```\n\n</RequestExample>\n\nText',
    [/^<p>Text<\/p>$/],
    [/```bash cURL/],
  ],
  [
    'Tooltip',
    'A <Tooltip tip="Explained" headline="API">term</Tooltip>.',
    [/role="tooltip"><strong>API<\/strong><span>Explained/],
    [/A term\./],
  ],
  [
    'Badge',
    '<Badge color="green" size="lg" shape="pill">New</Badge>',
    [/class="badge pill" data-badge="" data-color="green" data-size="lg"/],
    [],
  ],
  [
    'Update',
    '<Update label="v1.2" description="May" tags={["API"]}>\nNews\n</Update>',
    [/<section class="update" id="v1-2" data-tags="API">/],
    [/## v1\.2/],
  ],
  ['View', '<View title="Python">x</View>', [/data-view="Python"/], []],
  [
    'Visibility',
    '<Visibility for="humans">H</Visibility><Visibility for="agents">A</Visibility>',
    [/^(?!.*A).*H/s],
    [/^(?!.*H\b).*A/s],
  ],
  [
    'Tree of components',
    '<Tree><Tree.Folder name="app" defaultOpen><Tree.File name="a.ts" /></Tree.Folder></Tree>',
    [/<details open><summary class="tree-row">/, /a\.ts/],
    [/- app\/\n {2}- a\.ts/],
  ],
  [
    'Tree of a list',
    '<FileTree>\n\n- docs/\n  - `index.mdx`\n\n</FileTree>',
    [/<details open>.*docs.*index\.mdx/s],
    [],
  ],
  [
    'Prompt',
    '<Prompt description="Do **it**">\nYou are *x*.\n</Prompt>',
    [/Do <strong>it<\/strong>/, /You are _x_\./],
    [],
  ],
  ['Mermaid', '```mermaid\ngraph LR\nA-->B\n```', [/<figure class="mermaid">.*A--&gt;B/s], [/```mermaid/]],
  [
    'Color',
    '<Color variant="compact"><Color.Item name="blue" value="#00f" /></Color>',
    [/background: #00f/, /blue/],
    [],
  ],
  ['Snippet without a file', '<Snippet file="no.mdx" />', [/^$/], []],
  ['Heading', '<Heading level={3} id="mine">Title</Heading>', [/<h3 id="mine">Title/], [/### Title/]],
  [
    'Link and Image',
    '<Link href="/other">x</Link> <Image src="https://example.com/a.png" alt="b" />',
    [/<a class="link" href="\.\/other\.html">/, /<img src="https:\/\/example\.com\/a\.png" alt="b">/],
    [],
  ],
  ['GitHub.Repo', '<GitHub.Repo repo="a/b" />', [/href="https:\/\/github\.com\/a\/b"/], []],
  [
    'iframe',
    '<iframe src="https://www.youtube.com/embed/x" />',
    [/<iframe src="https:\/\/www\.youtube\.com\/embed\/x"[^>]*sandbox=/, /loading="lazy"/],
    [],
  ],
  ['video', '<video autoPlay src="https://example.com/a.mp4" />', [/<video[^>]* muted[^>]*>/], []],
  [
    'style object',
    '<div style={{ marginTop: 4, backgroundColor: "red" }}>x</div>',
    [/style="margin-top: 4px; background-color: red"/],
    [],
  ],
  [
    'classes',
    '<img className="block dark:hidden" src="https://example.com/a.png" />',
    [/class="block dark:hidden"/],
    [],
  ],
  ['table', '| a | b |\n| - | - |\n| 1 | 2 |', [/<div class="table-wrap" tabindex="0"><table>/], [/\| a \| b \|/]],
  ['task list', '- [x] done\n- [ ] open', [/type="checkbox"[^>]*checked/], [/- \[x\] done/]],
  ['math', 'The $x^2$ and\n\n$$\ny\n$$', [/<span class="math"><span class="katex">/, /math-block/], [/\$x\^2\$/]],
  ['footnote', 'A[^1]\n\n[^1]: B', [/data-footnote-ref/, /footnotes/], [/\[\^1\]: B/]],
];

/** Codes of examples that name files which do not exist, or that have no text around them. */
const ofExamples = new Set(['import-not-found', 'broken-link', 'missing-alt-text', 'skipped-heading-level']);

describe('built-in components', () => {
  test.each(cases)('%s', async (_name, source, html, markdown) => {
    const rendered = await renderedContent(source, { 'other.mdx': '# Other' });
    for (const pattern of html) expect(rendered.content).toMatch(pattern);
    for (const pattern of markdown) expect(rendered.markdown).toMatch(pattern);
    expect(rendered.codes.filter((code) => !ofExamples.has(code))).toEqual([]);
  });
});

test('examples stand in the column beside the text', async () => {
  const { html } = await renderedContent('<ResponseExample>\n\n```json 200\n{}\n```\n\n</ResponseExample>');
  expect(html).toMatch(/class="page-aside"><div class="aside-content"><section class="example response-example"/);
  expect(html).toContain('has-aside');
});

test('an unknown icon is left out, and a diagnostic names its line', async () => {
  const source =
    '# A\n\n<Card title="x" icon="no-such-icon">y</Card>\n\n```js title="z" icon="rocket-of-ours"\n1\n```\n\n<Icon icon="/a.svg" />';
  const { content, page } = await renderedContent(source, { 'a.svg': '<svg/>' });
  expect(content).toContain('<div class="card"><div class="card-body">');
  expect(content).toContain('<svg class="icon code-block-icon"');
  expect(content).toContain('<img class="icon inline-icon" src="./a.svg" alt="">');
  expect(page.diagnostics.map(({ code, line, message }) => [code, line, /shown/.test(message)])).toEqual([
    ['unknown-icon', 3, false],
    ['unknown-icon', undefined, true],
  ]);
});

test('default titles are in the language of the page; the Markdown stays English', async () => {
  const source = `<Tabs><Tab>a</Tab></Tabs>\n\n<CodeGroup>\n\`\`\`\n1\n\`\`\`\n\`\`\`\n2\n\`\`\`\n</CodeGroup>\n\n<Update>b</Update>\n\n<View>c</View>\n`;
  const docs = { name: 'T', navigation: { languages: [{ language: 'ja', pages: ['page'] }] } };
  const { content, html, markdown } = await renderedContent(source, { 'docs.json': JSON.stringify(docs) });
  for (const title of ['タブ', 'コード', '更新', '表示']) expect(content).toContain(`>${title}<`);
  expect(html).toContain('>Markdown で表示</a>');
  expect(markdown).toContain('## Update');
});

test('a drawing in a page keeps its arrow heads and clips, in either spelling', async () => {
  const source =
    '# A\n\n<svg viewBox="0 0 9 9"><defs><marker id="tip" markerWidth="8" refX="8" orient="auto"><path d="M0 0" /></marker></defs><line x2="8" strokeWidth="2" markerEnd="url(#tip)" clipPath="url(#half)" /><line x2="9" marker-start="url(#tip)" /></svg>';
  const { content, page } = await renderedContent(source);
  expect(content).toContain('<marker id="tip" markerWidth="8" refX="8" orient="auto"><path d="M0 0"></path></marker>');
  expect(content).toContain('marker-end="url(#tip)" clip-path="url(#half)"');
  expect(content).toContain('marker-start="url(#tip)"');
  expect(page.diagnostics).toEqual([]);
});
