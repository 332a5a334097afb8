const element = (
  name: string,
  before: string,
  content: string,
  properties: Record<string, string>,
): [string, [string, string]][] => [
  [name, [`<${name}${before}>${content}</${name}>`, content === '' ? 'x' : content]],
  ...Object.entries(properties).map(([property, written]): [string, [string, string]] => [
    `${name}.${property}`,
    [`<${name}${before} ${written}>${content}</${name}>`, `<${name}${before}>${content}</${name}>`],
  ]),
];
const inside = (open: string, close: string, rows: [string, [string, string]][]): [string, [string, string]][] =>
  rows.map(([name, [on, off]]) => [name, [`${open}${on}${close}`, `${open}${off}${close}`]]);
const icons = { icon: 'icon="star"' };
const iconType = (name: string, before: string, content: string): [string, [string, string]] => [
  `${name}.iconType`,
  [
    `<${name}${before} icon="star" iconType="regular">${content}</${name}>`,
    `<${name}${before} icon="star">${content}</${name}>`,
  ],
];
const fence = '\n\n```js One\na()\n```\n\n```py Two\nb()\n```\n\n';
const field = (name: string, named: string): [string, [string, string]][] =>
  element(name, ` ${named}`, 'Text.', {
    type: 'type="string"',
    required: 'required',
    deprecated: 'deprecated',
    default: 'default="7"',
  });

/** MDX with a component or a property, and the same without it. */
export const componentExamples: Record<string, [on: string, off: string]> = Object.fromEntries([
  ...element('Accordion', ' title="T"', 'x', {
    description: 'description="D"',
    defaultOpen: 'defaultOpen',
    id: 'id="own"',
    ...icons,
  }),
  iconType('Accordion', ' title="T"', 'x'),
  ['Accordion.title', ['<Accordion title="Other">x</Accordion>', '<Accordion title="T">x</Accordion>']],
  ...element('AccordionGroup', '', '<Accordion title="T">x</Accordion>', {}),
  ...element('Badge', '', 'x', {
    color: 'color="red"',
    size: 'size="lg"',
    shape: 'shape="pill"',
    stroke: 'stroke',
    disabled: 'disabled',
    className: 'className="mt-4"',
    ...icons,
  }),
  iconType('Badge', '', 'x'),
  ...['Note', 'Warning', 'Info', 'Tip', 'Check', 'Danger'].flatMap((name) => element(name, '', 'x', {})),
  ...element('Callout', '', 'x', { color: 'color="#aa0000"', ...icons }),
  iconType('Callout', '', 'x'),
  ...element('Card', ' title="T"', 'x', {
    color: 'color="#aa0000"',
    href: 'href="/more"',
    horizontal: 'horizontal',
    img: 'img="/logo.svg"',
    cta: 'href="/more" cta="Go"',
    arrow: 'href="/more" arrow',
    ...icons,
  }),
  ['Card.title', ['<Card title="T">x</Card>', '<Card>x</Card>']],
  iconType('Card', ' title="T"', 'x'),
  ...element('CardGroup', '', '<Card title="T">x</Card>', { cols: 'cols={3}' }),
  ...element('Columns', '', '<Card title="T">x</Card>', { cols: 'cols={3}' }),
  ...element('Column', '', 'x', {}),
  ...element('CodeGroup', '', fence, {}),
  ...element('CodeBlock', '', '{`a = 1\nb = 2`}', {
    language: 'language="python"',
    filename: 'filename="a.py"',
    icon: 'icon="star" filename="a"',
    lines: 'lines',
    wrap: 'wrap',
    nocopy: 'nocopy',
    expandable: 'expandable',
    highlight: 'highlight="[1]"',
    focus: 'focus="[1]"',
  }),
  ['Color', ['<Color variant="compact"><Color.Item name="A" value="#aa0000" /></Color>', 'x']],
  [
    'Color.variant',
    [
      '<Color variant="table"><Color.Item name="A" value="#aa0000" /></Color>',
      '<Color variant="compact"><Color.Item name="A" value="#aa0000" /></Color>',
    ],
  ],
  ...inside('<Color variant="table">', '</Color>', [
    [
      'Color.Row',
      [
        '<Color.Row title="R"><Color.Item name="A" value="#aa0000" /></Color.Row>',
        '<Color.Item name="A" value="#aa0000" />',
      ],
    ],
    [
      'Color.Row.title',
      [
        '<Color.Row title="R"><Color.Item name="A" value="#aa0000" /></Color.Row>',
        '<Color.Row title="S"><Color.Item name="A" value="#aa0000" /></Color.Row>',
      ],
    ],
    ['Color.Item', ['<Color.Item name="A" value="#aa0000" />', '']],
    ['Color.Item.name', ['<Color.Item name="A" value="#aa0000" />', '<Color.Item name="B" value="#aa0000" />']],
    ['Color.Item.value', ['<Color.Item name="A" value="#aa0000" />', '<Color.Item name="A" value="#bb0000" />']],
  ]),
  ...element('Expandable', '', 'x', { title: 'title="T"', defaultOpen: 'defaultOpen' }),
  ...element('Frame', '', '<img src="/logo.svg" alt="" />', { caption: 'caption="C"', hint: 'hint="H"' }),
  ['GitHub.Repo', ['<GitHub.Repo repo="a/b" />', 'x']],
  ['GitHub.Repo.repo', ['<GitHub.Repo repo="a/b" />', '<GitHub.Repo repo="a/c" />']],
  ['GitHub.Repo.className', ['<GitHub.Repo repo="a/b" className="mt-4" />', '<GitHub.Repo repo="a/b" />']],
  ...element('Heading', ' level={3}', 'Head', { noAnchor: 'noAnchor', id: 'id="own"' }),
  ['Heading.level', ['<Heading level={3}>Head</Heading>', '<Heading level={2}>Head</Heading>']],
  ['Icon', ['<Icon icon="star" />', 'x']],
  ['Icon.icon', ['<Icon icon="star" />', '<Icon icon="heart" />']],
  ['Icon.src', ['<Icon src="/logo.svg" />', 'x']],
  ['Icon.iconType', ['<Icon icon="star" iconType="regular" />', '<Icon icon="star" />']],
  ['Icon.color', ['<Icon icon="star" color="#aa0000" />', '<Icon icon="star" />']],
  ['Icon.size', ['<Icon icon="star" size={40} />', '<Icon icon="star" />']],
  ['Icon.className', ['<Icon icon="star" className="mt-4" />', '<Icon icon="star" />']],
  ...element('Mermaid', '', '{`graph TD; A-->B`}', { actions: 'actions={false}', placement: 'placement="top-left"' }),
  ...element('Panel', '', 'x', {}),
  ...field('ParamField', 'query="a"').filter(([name]) => name !== 'ParamField'),
  ['ParamField', ['<ParamField query="a">Text.</ParamField>', 'Text.']],
  ...['path', 'query', 'body', 'header'].map((place): [string, [string, string]] => [
    `ParamField.${place}`,
    [`<ParamField ${place}="a">Text.</ParamField>`, '<ParamField name="a">Text.</ParamField>'],
  ]),
  ...element('ResponseField', ' name="a"', 'Text.', {
    type: 'type="string"',
    required: 'required',
    deprecated: 'deprecated',
    default: 'default="7"',
    pre: 'pre={["p"]}',
    post: 'post={["q"]}',
  }),
  [
    'ResponseField.name',
    ['<ResponseField name="a">Text.</ResponseField>', '<ResponseField name="b">Text.</ResponseField>'],
  ],
  ...element('RequestExample', '', fence, {}),
  ...element('ResponseExample', '', fence, {}),
  ...element('Prompt', ' description="D"', 'Do it.', icons),
  ['Prompt.description', ['<Prompt description="D">x</Prompt>', '<Prompt>x</Prompt>']],
  iconType('Prompt', ' description="D"', 'x'),
  ...element('Steps', '', '<Step title="T">x</Step>', { titleSize: 'titleSize="h3"' }),
  ...inside('<Steps>', '</Steps>', [
    ...element('Step', ' title="T"', 'x', {
      stepNumber: 'stepNumber={7}',
      titleSize: 'titleSize="h2"',
      id: 'id="own"',
      ...icons,
    }),
    ['Step.title', ['<Step title="T">x</Step>', '<Step title="U">x</Step>']],
    ['Step.noAnchor', ['<Step title="T" titleSize="h2" noAnchor>x</Step>', '<Step title="T" titleSize="h2">x</Step>']],
    iconType('Step', ' title="T"', 'x'),
  ]),
  ['Tabs.Tab', ['<Tabs><Tabs.Tab title="A">x</Tabs.Tab></Tabs>', '<Tabs>x</Tabs>']],
  ['Tabs.items', ['<Tabs items={["A"]}><Tab>x</Tab></Tabs>', '<Tabs><Tab>x</Tab></Tabs>']],
  ...element('Tabs', '', '<Tab title="A">x</Tab><Tab title="B">y</Tab>', {
    defaultTabIndex: 'defaultTabIndex={1}',
    sync: 'sync={false}',
  }),
  ...inside('<Tabs><Tab title="Z">z</Tab>', '</Tabs>', [
    ...element('Tab', ' title="A"', 'x', { id: 'id="own"', ...icons }),
    ['Tab.title', ['<Tab title="A">x</Tab>', '<Tab title="B">x</Tab>']],
    iconType('Tab', ' title="A"', 'x'),
  ]),
  ...element('Tile', ' href="/more"', 'x', { title: 'title="T"', description: 'description="D"' }),
  ['Tile.href', ['<Tile href="/more" title="T">x</Tile>', '<Tile title="T">x</Tile>']],
  ...element('Tooltip', ' tip="Tip"', 'x', { headline: 'headline="H"', href: 'href="/more"' }),
  ['Tooltip.tip', ['<Tooltip tip="A">x</Tooltip>', '<Tooltip tip="B">x</Tooltip>']],
  ['Tooltip.cta', ['<Tooltip tip="A" href="/more" cta="Go">x</Tooltip>', '<Tooltip tip="A" href="/more">x</Tooltip>']],
  ['Tree', ['<Tree><Tree.File name="a" /></Tree>', 'x']],
  ['FileTree', ['<FileTree>\n- a/\n  - b\n</FileTree>', 'x']],
  ...inside('<Tree>', '</Tree>', [
    ['Tree.Folder', ['<Tree.Folder name="a"><Tree.File name="b" /></Tree.Folder>', '<Tree.File name="b" />']],
    ['Tree.File', ['<Tree.File name="b" />', '']],
    [
      'Tree.Folder.name',
      [
        '<Tree.Folder name="a"><Tree.File name="b" /></Tree.Folder>',
        '<Tree.Folder name="c"><Tree.File name="b" /></Tree.Folder>',
      ],
    ],
    ...['defaultOpen', 'openable={false}', 'highlight'].map((written): [string, [string, string]] => [
      `Tree.Folder.${written.replace(/=.*/, '')}`,
      [
        `<Tree.Folder name="a" ${written}><Tree.File name="b" /></Tree.Folder>`,
        '<Tree.Folder name="a"><Tree.File name="b" /></Tree.Folder>',
      ],
    ]),
    ['Tree.File.name', ['<Tree.File name="a" />', '<Tree.File name="b" />']],
    ['Tree.File.highlight', ['<Tree.File name="a" highlight />', '<Tree.File name="a" />']],
  ]),
  ...element('Update', ' label="L"', 'x', {
    description: 'description="D"',
    tags: 'tags={["A"]}',
    rss: 'rss={{ title: "F" }}',
  }),
  ['Update.label', ['<Update label="L">x</Update>', '<Update label="M">x</Update>']],
  ...element('View', ' title="V"', 'x', { ...icons }),
  ['View.title', ['<View title="V">x</View>', '<View title="W">x</View>']],
  iconType('View', ' title="V"', 'x'),
  ['Visibility', ['<Visibility for="agents">x</Visibility>', 'x']],
  ['Visibility.for', ['<Visibility for="agents">x</Visibility>', '<Visibility for="humans">x</Visibility>']],
  ['Snippet', ['<Snippet file="own.mdx" />', 'x']],
  ['Snippet.file', ['<Snippet file="own.mdx" />', '<Snippet file="other.mdx" />']],
  ['Link', ['<Link href="/more">x</Link>', 'x']],
  ['Link.href', ['<Link href="/more">x</Link>', '<Link href="https://a.example">x</Link>']],
]) as Record<string, [string, string]>;
