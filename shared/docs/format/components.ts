import { allDone, done, not, partly, type SupportTable } from './support.ts';

/** Support for the components of a page and their properties. A name without a property stands for the component and its content. */
export const componentSupport: SupportTable = {
  ...allDone('Accordion Accordion.title Accordion.description Accordion.defaultOpen Accordion.id Accordion.icon'),
  ...allDone('Accordion.iconType AccordionGroup'),
  ...allDone(
    'Badge Badge.color Badge.size Badge.shape Badge.icon Badge.iconType Badge.stroke Badge.disabled Badge.className',
  ),
  ...allDone('Note Warning Info Tip Check Danger Callout Callout.icon Callout.iconType Callout.color'),
  ...allDone(
    'Card Card.title Card.icon Card.iconType Card.color Card.href Card.horizontal Card.img Card.cta Card.arrow',
  ),
  'Card.type': not('callouts have kinds; cards have a `color`'),
  ...allDone('CardGroup CardGroup.cols Columns Columns.cols Column'),
  CodeGroup: done,
  'CodeGroup.dropdown': not('languages are tabs, which scroll where there are many'),
  ...allDone(
    'CodeBlock CodeBlock.language CodeBlock.filename CodeBlock.icon CodeBlock.lines CodeBlock.wrap CodeBlock.nocopy',
  ),
  ...allDone('CodeBlock.expandable CodeBlock.highlight CodeBlock.focus'),
  ...allDone('Color Color.variant Color.Row Color.Row.title Color.Item Color.Item.name Color.Item.value'),
  ...allDone('Expandable Expandable.title Expandable.defaultOpen Frame Frame.caption Frame.hint'),
  'GitHub.Repo': partly(
    'the card links to the repository but shows no figures, because pages make no requests to other sites',
  ),
  'GitHub.Repo.repo': done,
  'GitHub.Repo.variant': not('the card has one look'),
  'GitHub.Repo.className': done,
  ...allDone('Heading Heading.level Heading.noAnchor Heading.id'),
  ...allDone('Icon Icon.icon Icon.src Icon.iconType Icon.color Icon.size Icon.className'),
  ...allDone('Mermaid Mermaid.actions Mermaid.placement'),
  Panel: done,
  ...allDone('ParamField ParamField.path ParamField.query ParamField.body ParamField.header ParamField.type'),
  ...allDone('ParamField.required ParamField.deprecated ParamField.default'),
  'ParamField.placeholder': not('an empty field of the playground stands for no value, and shows none'),
  ...allDone('ResponseField ResponseField.name ResponseField.type ResponseField.default ResponseField.required'),
  ...allDone('ResponseField.deprecated ResponseField.pre ResponseField.post'),
  ...allDone('RequestExample ResponseExample'),
  'RequestExample.dropdown': not('samples are tabs, which scroll where there are many'),
  'ResponseExample.dropdown': not('samples are tabs, which scroll where there are many'),
  ...allDone('Prompt Prompt.description Prompt.icon Prompt.iconType'),
  'Prompt.actions': not('a prompt can always be copied; no button opens a program'),
  ...allDone(
    'Steps Steps.titleSize Step Step.title Step.icon Step.iconType Step.stepNumber Step.titleSize Step.id Step.noAnchor',
  ),
  ...allDone('Tabs Tabs.defaultTabIndex Tabs.sync Tabs.items Tabs.Tab Tab Tab.title Tab.id Tab.icon Tab.iconType'),
  'Tabs.borderBottom': not('a line separates the names of tabs from their content'),
  ...allDone('Tile Tile.href Tile.title Tile.description'),
  ...allDone('Tooltip Tooltip.tip Tooltip.headline Tooltip.cta Tooltip.href'),
  ...allDone('Tree FileTree Tree.Folder Tree.File Tree.Folder.name Tree.Folder.defaultOpen Tree.Folder.openable'),
  ...allDone('Tree.Folder.highlight Tree.File.name Tree.File.highlight'),
  ...allDone('Update Update.label Update.description Update.tags Update.rss'),
  ...allDone('View View.title View.icon View.iconType Visibility Visibility.for Snippet Snippet.file Link Link.href'),
};

/** The properties of each component that have no effect, with the reason. */
export function propertiesWithoutEffect(): ReadonlyMap<string, [property: string, why: string][]> {
  const found = new Map<string, [string, string][]>();
  for (const [name, { is, note = '' }] of Object.entries(componentSupport)) {
    const at = name.lastIndexOf('.');
    if (is !== 'not' || at < 0) continue;
    const component = name.slice(0, at);
    found.set(component, [...(found.get(component) ?? []), [name.slice(at + 1), note]]);
  }
  return found;
}
