import { expect, test } from 'vitest';
import { componentSupport } from '#shared/docs/format/components.ts';
import { lineElements } from '../evaluate/evaluate-island.ts';
import { renderedContent } from '../test-project.ts';
import { componentRegistry } from './registry.ts';

/** For each component of the registry: a source, and its whole HTML and Markdown. Drawings of icons are left out. */
const examples: Record<string, [source: string, html: string, markdown: string]> = {
  Accordion: [
    '<Accordion title="Title" description="More" defaultOpen>Words</Accordion>',
    '<details class="accordion" id="title" open><summary><span class="chevron"></span><span class="accordion-title">Title <span class="accordion-description">More</span></span></summary><div class="accordion-content">Words</div></details>',
    '**Title** – More\n\nWords',
  ],
  AccordionGroup: [
    '<AccordionGroup><Accordion title="Title">Words</Accordion></AccordionGroup>',
    '<div class="accordion-group"><details class="accordion" id="title"><summary><span class="chevron"></span><span class="accordion-title">Title</span></summary><div class="accordion-content">Words</div></details></div>',
    '**Title**\n\nWords',
  ],
  Badge: [
    '<Badge color="green" size="lg" shape="pill" stroke disabled>Words</Badge>',
    '<p><span class="badge pill stroke disabled" data-badge="" data-color="green" data-size="lg">Words</span></p>',
    'Words',
  ],
  Callout: [
    '<Callout icon="key" color="#ff0000" title="Title">Words</Callout>',
    '<div class="callout callout-custom" data-callout-type="custom" role="note" style="--callout: #ff0000"><svg class="icon callout-icon"/><div class="callout-content"><p class="callout-title">Title</p>Words</div></div>',
    '> **Title**\n>\n> Words',
  ],
  Card: [
    '<Card title="Title" href="/other" icon="rocket" cta="Go" img="/a.png" horizontal>Words</Card>',
    '<div class="card horizontal linked"><img class="card-image" src="./a.png" alt="" data-no-zoom=""><svg class="icon card-icon"/><div class="card-body"><p class="card-title"><a class="card-link" href="./other.html">Title</a></p><div class="card-text">Words</div><p class="card-cta"><span>Go</span><svg class="icon cta-icon"/></p></div></div>',
    '[Title](/other)\n\nWords',
  ],
  CardGroup: [
    '<CardGroup cols={3}><Card title="Title" /></CardGroup>',
    '<div class="card-group columns cols-3"><div class="card"><div class="card-body"><p class="card-title">Title</p></div></div></div>',
    '**Title**',
  ],
  Check: [
    '<Check>Words</Check>',
    '<div class="callout callout-check" data-callout-type="check" role="note" aria-label="Check"><svg class="icon callout-icon"/><div class="callout-content">Words</div></div>',
    '> **Check**\n>\n> Words',
  ],
  CodeBlock: [
    '<CodeBlock language="text" filename="a.txt" lines>{`a\nb`}</CodeBlock>',
    '<div class="code-block with-lines" data-language="text"><div class="code-block-header"><span class="code-block-title">a.txt</span></div><pre tabindex="0"><code class="language-text"><span class="line">a</span>\n<span class="line">b</span></code></pre></div>',
    '```text title="a.txt" lines\na\nb\n```',
  ],
  CodeGroup: [
    '<CodeGroup>\n\n```text One\na\n```\n\n```text Two\nb\n```\n\n</CodeGroup>',
    '<div class="code-group" data-sync=""><div class="tabs-list" role="tablist"><button type="button" role="tab" class="tabs-item" aria-selected="true" tabindex="0"><span>One</span></button><button type="button" role="tab" class="tabs-item" aria-selected="false" tabindex="-1"><span>Two</span></button></div><section class="tab-panel" data-title="One" data-active=""><p class="tab-title">One</p><div class="code-block" data-language="text"><pre tabindex="0"><code class="language-text">a</code></pre></div></section><section class="tab-panel" data-title="Two"><p class="tab-title">Two</p><div class="code-block" data-language="text"><pre tabindex="0"><code class="language-text">b</code></pre></div></section></div>',
    '```text One\na\n```\n\n```text Two\nb\n```',
  ],
  Color: [
    '<Color variant="table"><Color.Item name="blue" value="#00f" /></Color>',
    '<div class="colors table"><div class="color-item"><span class="color-swatch" style="background: #00f"></span><span class="color-name">blue</span><code>#00f</code></div></div>',
    'blue `#00f`',
  ],
  'Color.Item': [
    '<Color.Item name="blue" value={{ light: "#00f", dark: "#008" }} />',
    '<div class="color-item"><span class="color-swatch" style="background: #00f"></span><span class="color-swatch" style="background: #008"></span><span class="color-name">blue</span><code>#00f / #008</code></div>',
    'blue `#00f / #008`',
  ],
  'Color.Row': [
    '<Color.Row title="Row"><Color.Item name="blue" value="#00f" /></Color.Row>',
    '<div class="colors compact"><div class="color-row"><p class="color-row-title">Row</p><div class="color-item"><span class="color-swatch" style="background: #00f"></span><span class="color-name">blue</span><code>#00f</code></div></div></div>',
    '**Row**\n\nblue `#00f`',
  ],
  Column: ['<Column>Words</Column>', '<div class="column">Words</div>', 'Words'],
  Columns: ['<Columns cols={3}>Words</Columns>', '<div class="columns cols-3">Words</div>', 'Words'],
  Danger: [
    '<Danger>Words</Danger>',
    '<div class="callout callout-danger" data-callout-type="danger" role="note" aria-label="Danger"><svg class="icon callout-icon"/><div class="callout-content">Words</div></div>',
    '> **Danger**\n>\n> Words',
  ],
  Expandable: [
    '<Expandable title="pet" defaultOpen>Words</Expandable>',
    '<details class="expandable" open><summary><span class="chevron"></span><span>Show pet</span></summary><div class="expandable-content">Words</div></details>',
    '**pet**\n\nWords',
  ],
  FileTree: [
    '<FileTree>\n\n- docs/\n  - a.mdx\n\n</FileTree>',
    '<div class="tree"><ul class="tree-list"><li class="tree-item"><details open><summary class="tree-row"><svg class="icon chevron"/><svg class="icon tree-icon"/><span class="tree-name">docs</span></summary><ul class="tree-list"><li class="tree-item"><span class="tree-row"><svg class="icon tree-icon"/><span class="tree-name">a.mdx</span></span></li></ul></details></li></ul></div>',
    '- docs/\n  - a.mdx',
  ],
  'FileTree.File': [
    '<FileTree.File name="a.mdx" highlight />',
    '<div class="tree"><ul class="tree-list"><li class="tree-item highlighted"><span class="tree-row"><svg class="icon tree-icon"/><span class="tree-name">a.mdx</span></span></li></ul></div>',
    '- a.mdx',
  ],
  'FileTree.Folder': [
    '<FileTree.Folder name="docs"><FileTree.File name="a.mdx" /></FileTree.Folder>',
    '<div class="tree"><ul class="tree-list"><li class="tree-item"><details><summary class="tree-row"><svg class="icon chevron"/><svg class="icon tree-icon"/><span class="tree-name">docs</span></summary><ul class="tree-list"><li class="tree-item"><span class="tree-row"><svg class="icon tree-icon"/><span class="tree-name">a.mdx</span></span></li></ul></details></li></ul></div>',
    '- docs/\n  - a.mdx',
  ],
  Frame: [
    '<Frame caption="A caption" hint="A hint">Words</Frame>',
    '<p class="frame-hint">A hint</p>\n<figure class="frame"><div class="frame-content">Words</div><figcaption>A caption</figcaption></figure>',
    'Words\n\n_A caption_',
  ],
  'GitHub.Repo': [
    '<GitHub.Repo repo="a/b" />',
    '<div class="card linked horizontal"><svg class="icon card-icon"/><div class="card-body"><p class="card-title"><a class="card-link" href="https://github.com/a/b" target="_blank" rel="noopener noreferrer">a/b</a></p></div></div>',
    '[a/b](https://github.com/a/b)',
  ],
  Heading: [
    '<Heading level={3} id="own">Title</Heading>',
    '<h3 id="own">Title<a class="heading-anchor" href="#own" aria-label="Link to this section"></a></h3>',
    '### Title',
  ],
  Icon: [
    'An <Icon icon="rocket" size={20} color="red" /> icon',
    '<p>An <svg class="icon inline-icon" style="width: 20px; height: 20px; color: red"/> icon</p>',
    'An  icon',
  ],
  Image: [
    '<Image src="https://example.com/a.png" alt="Words" />',
    '<img src="https://example.com/a.png" alt="Words">',
    '![Words](https://example.com/a.png)',
  ],
  Info: [
    '<Info>Words</Info>',
    '<div class="callout callout-info" data-callout-type="info" role="note" aria-label="Info"><svg class="icon callout-icon"/><div class="callout-content">Words</div></div>',
    '> **Info**\n>\n> Words',
  ],
  Latex: [
    'The <Latex>x</Latex> formula',
    '<p>The <span class="math"><span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span class="katex-base"><span class="katex-strut" style="height:0.4306em;"></span><span class="mord mathnormal">x</span></span></span></span></span> formula</p>',
    'The $x$ formula',
  ],
  Link: ['<Link href="/other">Words</Link>', '<p><a class="link" href="./other.html">Words</a></p>', '[Words](/other)'],
  Mermaid: [
    '<Mermaid>{`graph LR\nA-->B`}</Mermaid>',
    '<figure class="mermaid"><pre tabindex="0"><code class="language-mermaid">graph LR\nA--&gt;B</code></pre></figure>',
    '```mermaid\ngraph LR\nA-->B\n```',
  ],
  Note: [
    '<Note>Words</Note>',
    '<div class="callout callout-note" data-callout-type="note" role="note" aria-label="Note"><svg class="icon callout-icon"/><div class="callout-content">Words</div></div>',
    '> **Note**\n>\n> Words',
  ],
  Panel: ['<Panel>Words</Panel>', '<section class="panel">Words</section>', 'Words'],
  Param: [
    '<Param query="limit" type="integer">Words</Param>',
    '<div class="field" id="param-limit"><div class="field-head"><code><a href="#param-limit">limit</a></code> <samp>integer</samp> <span class="field-chip field-place">query</span></div><div>Words</div></div>',
    '- `limit` (integer, query)\n\n  Words',
  ],
  ParamField: [
    '<ParamField body="limit" type="integer" required default="10">Words</ParamField>',
    '<div class="field" id="param-limit"><div class="field-head"><code><a href="#param-limit">limit</a></code> <samp>integer</samp> <span class="field-chip field-place">body</span> <span class="field-default">default: <code>10</code></span> <span class="field-chip field-required">required</span></div><div>Words</div></div>',
    '- `limit` (integer, body, required, default: 10)\n\n  Words',
  ],
  Prompt: [
    '<Prompt description="Do *it*">Words</Prompt>',
    '<div class="prompt" data-copy=""><div class="prompt-head"><svg class="icon prompt-icon"/><span>Do <em>it</em></span></div><details class="expandable"><summary><svg class="icon chevron"/><span>Show prompt</span></summary><pre class="prompt-text" tabindex="0"><code>Words</code></pre></details></div>',
    'Words',
  ],
  RequestExample: [
    '<RequestExample>\n\n```text One\na\n```\n\n</RequestExample>',
    '<section class="example request-example" aria-label="Request"><p class="example-title">Request</p><div class="code-group single"><div class="code-block" data-language="text"><div class="code-block-header"><span class="code-block-title">One</span></div><pre tabindex="0"><code class="language-text">a</code></pre></div></div></section>',
    '```text One\na\n```',
  ],
  ResponseExample: [
    '<ResponseExample>\n\n```text 200\na\n```\n\n</ResponseExample>',
    '<section class="example response-example" aria-label="Response"><p class="example-title">Response</p><div class="code-group single"><div class="code-block" data-language="text"><div class="code-block-header"><span class="code-block-title">200</span></div><pre tabindex="0"><code class="language-text">a</code></pre></div></div></section>',
    '```text 200\na\n```',
  ],
  ResponseField: [
    '<ResponseField name="id" type="string" deprecated pre={["a"]} post={["b"]}>Words</ResponseField>',
    '<div class="field" id="id"><div class="field-head"><span class="field-chip field-pre">a</span> <code class="deprecated"><a href="#id">id</a></code> <span class="field-chip field-post">b</span> <samp>string</samp> <span class="field-chip field-deprecated">deprecated</span></div><div>Words</div></div>',
    '- `id` (string, a, b, deprecated)\n\n  Words',
  ],
  Snippet: ['<Snippet>Words</Snippet>', '<p>Words</p>', 'Words'],
  Step: [
    '<Step title="Title" stepNumber={7}>Words</Step>',
    '<ol class="steps"><li class="step" id="title"><div class="step-number" aria-hidden="true">7</div><div class="step-body"><p class="step-title">Title</p><div class="step-content">Words</div></div></li></ol>',
    '**Title**\n\nWords',
  ],
  Steps: [
    '<Steps titleSize="h3"><Step title="One">Words</Step><Step title="Two">More</Step></Steps>',
    '<ol class="steps"><li class="step" id="one"><div class="step-number" aria-hidden="true">1</div><div class="step-body"><h3 class="step-title">One</h3><div class="step-content">Words</div></div></li><li class="step" id="two"><div class="step-number" aria-hidden="true">2</div><div class="step-body"><h3 class="step-title">Two</h3><div class="step-content">More</div></div></li></ol>',
    '1. **One**\n\n   Words\n\n2. **Two**\n\n   More',
  ],
  Tab: [
    '<Tab title="Title">Words</Tab>',
    '<div class="tab-panel"><p class="tab-title shown">Title</p>Words</div>',
    '**Title**\n\nWords',
  ],
  Tabs: [
    '<Tabs><Tab title="One">Words</Tab><Tab title="Two">More</Tab></Tabs>',
    '<div class="tabs" data-sync=""><div class="tabs-list" role="tablist"><button type="button" role="tab" class="tabs-item" aria-selected="true" tabindex="0"><span>One</span></button><button type="button" role="tab" class="tabs-item" aria-selected="false" tabindex="-1"><span>Two</span></button></div><section class="tab-panel" id="one" data-title="One" data-active=""><p class="tab-title">One</p>Words</section><section class="tab-panel" id="two" data-title="Two"><p class="tab-title">Two</p>More</section></div>',
    '**One**\n\nWords\n\n**Two**\n\nMore',
  ],
  'Tabs.Tab': [
    '<Tabs.Tab title="Title">Words</Tabs.Tab>',
    '<div class="tab-panel"><p class="tab-title shown">Title</p>Words</div>',
    '**Title**\n\nWords',
  ],
  Tile: [
    '<Tile href="/other" title="Title" description="More">Words</Tile>',
    '<div class="tile linked"><div class="tile-preview">Words</div><div class="card-body"><p class="card-title"><a class="card-link" href="./other.html">Title</a></p><p class="card-text">More</p></div></div>',
    '[Title](/other)\n\nMore\n\nWords',
  ],
  Tiles: ['<Tiles cols={3}>Words</Tiles>', '<div class="columns cols-3">Words</div>', 'Words'],
  Tip: [
    '<Tip>Words</Tip>',
    '<div class="callout callout-tip" data-callout-type="tip" role="note" aria-label="Tip"><svg class="icon callout-icon"/><div class="callout-content">Words</div></div>',
    '> **Tip**\n>\n> Words',
  ],
  Tooltip: [
    'A <Tooltip tip="A tip" headline="Head" href="/other" cta="Go">word</Tooltip>',
    '<p>A <span class="tooltip" tabindex="0">word<span class="tooltip-content" role="tooltip"><strong>Head</strong><span>A tip</span><a href="./other.html">Go</a></span></span></p>',
    'A word',
  ],
  Tree: [
    '<Tree><Tree.Folder name="docs" defaultOpen><Tree.File name="a.mdx" /></Tree.Folder></Tree>',
    '<div class="tree"><ul class="tree-list"><li class="tree-item"><details open><summary class="tree-row"><svg class="icon chevron"/><svg class="icon tree-icon"/><span class="tree-name">docs</span></summary><ul class="tree-list"><li class="tree-item"><span class="tree-row"><svg class="icon tree-icon"/><span class="tree-name">a.mdx</span></span></li></ul></details></li></ul></div>',
    '- docs/\n  - a.mdx',
  ],
  'Tree.File': [
    '<Tree.File name="a.mdx" />',
    '<div class="tree"><ul class="tree-list"><li class="tree-item"><span class="tree-row"><svg class="icon tree-icon"/><span class="tree-name">a.mdx</span></span></li></ul></div>',
    '- a.mdx',
  ],
  'Tree.Folder': [
    '<Tree.Folder name="docs"><Tree.File name="a.mdx" /></Tree.Folder>',
    '<div class="tree"><ul class="tree-list"><li class="tree-item"><details><summary class="tree-row"><svg class="icon chevron"/><svg class="icon tree-icon"/><span class="tree-name">docs</span></summary><ul class="tree-list"><li class="tree-item"><span class="tree-row"><svg class="icon tree-icon"/><span class="tree-name">a.mdx</span></span></li></ul></details></li></ul></div>',
    '- docs/\n  - a.mdx',
  ],
  Update: [
    '<Update label="v1" description="May" tags={["API"]}>Words</Update>',
    '<section class="update" id="v1" data-tags="API"><div class="update-head"><h2 class="update-label" data-no-toc=""><a href="#v1">v1</a></h2><p class="update-description">May</p><p class="update-tags"><span class="badge" data-color="gray">API</span></p></div><div class="update-content">Words</div></section>',
    '## v1\n\nMay\n\nTags: API\n\nWords',
  ],
  View: [
    '<View title="Title">Words</View>',
    '<section class="view" data-view="Title"><p class="view-title">Title</p>Words</section>',
    '**Title**\n\nWords',
  ],
  Visibility: [
    '<Visibility for="humans">People</Visibility><Visibility for="agents">Models</Visibility>',
    'People',
    'Models',
  ],
  Warning: [
    '<Warning>Words</Warning>',
    '<div class="callout callout-warning" data-callout-type="warning" role="note" aria-label="Warning"><svg class="icon callout-icon"/><div class="callout-content">Words</div></div>',
    '> **Warning**\n>\n> Words',
  ],
};

/** Classes and styles of an icon, without its drawing. */
const withoutDrawing = (_: string, attributes: string): string =>
  `<svg${(attributes.match(/ (?:class|style)="[^"]*"/g) ?? []).join('')}/>`;

/** HTML of the content, or of the column beside it if the content is empty. */
function contentOf({ content, html }: { content: string; html: string }): string {
  const aside = /<div class="aside-content">([^]*?)<\/div><\/div>\n<div class="content-box">/.exec(html)?.[1] ?? '';
  return (content === '' ? aside : content).replace(/<svg([^>]*)>[^]*?<\/svg>/g, withoutDrawing);
}

test('each component of the registry has an example', () => {
  const without = [...componentRegistry.keys()].filter((name) => !Object.hasOwn(examples, name));
  expect(without, 'add an example of these components to `examples` in this file').toEqual([]);
  expect(Object.keys(examples).filter((name) => !componentRegistry.has(name))).toEqual([]);
});

test('the table of support names components of the registry', () => {
  const named = Object.keys(componentSupport).filter((name) => /^[A-Z]\w*(\.[A-Z]\w*)?$/.test(name));
  expect(named.filter((name) => !componentRegistry.has(name))).toEqual([]);
});

test('the table of support has each component of the registry, except second names and older forms', () => {
  const notInTable = ['FileTree.File', 'FileTree.Folder', 'Image', 'Latex', 'Param', 'Tiles'];
  const missing = [...componentRegistry.keys()].filter((name) => !(name in componentSupport));
  expect(missing.sort(), 'name the others in shared/docs/format/components.ts').toEqual(notInTable);
});

test.each(Object.entries(examples))('%s has its HTML and its Markdown', async (name, [source, html, markdown]) => {
  expect(source).toMatch(new RegExp(`^[^<]*<${name.replace('.', '\\.')}[ >]`));
  const rendered = await renderedContent(source, { 'other.mdx': 'x', 'a.png': 'x' });
  expect(contentOf(rendered)).toBe(html);
  expect(rendered.markdown).toBe(`# Page\n\n${markdown}\n`);
  // A snippet without a file and a heading without the level above it are the only examples that lack something.
  const lacks: Record<string, string> = { Snippet: 'import-not-found', Heading: 'skipped-heading-level' };
  expect(rendered.codes).toEqual([lacks[name] ?? []].flat());
});

test('each component that stands in a line of text does so in islands, except formulas, which may have several lines', () => {
  const inline = [...componentRegistry].flatMap(([name, { isInline }]) => (isInline === true ? [name] : []));
  expect(inline.filter((name) => !lineElements.has(name))).toEqual(['Latex']);
});
