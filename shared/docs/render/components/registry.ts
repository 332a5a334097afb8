import { callout, card, column, columns } from './cards-and-callouts.ts';
import type { Component } from './component.ts';
import { paramField, responseField } from './fields.ts';
import { color, colorItem, frame, mermaid, tree, treeEntry } from './figures.ts';
import { badge, heading, iconComponent, link, repository, tooltip } from './inline-components.ts';
import { example, image, panel, prompt, snippetWithoutFile, update, view, visibility } from './page-components.ts';
import { accordion, accordionGroup, expandable, loneStep, steps } from './steps-and-accordions.ts';
import { codeBlockComponent, codeGroup, loneTab, tabs } from './tabs.ts';

/** What makes HTML of each built-in component. A map, so that names of JavaScript's own find nothing. */
export const componentRegistry: ReadonlyMap<string, Component> = new Map([
  ...['Note', 'Warning', 'Info', 'Tip', 'Check', 'Danger', 'Callout'].map((name) => [name, callout] as const),
  ['Card', card],
  ['Tile', card],
  ['CardGroup', columns],
  ['Columns', columns],
  ['Tiles', columns],
  ['Column', column],
  ['Tabs', tabs],
  ['Tab', loneTab],
  ['CodeGroup', codeGroup],
  ['CodeBlock', codeBlockComponent],
  ['View', view],
  ['Accordion', accordion],
  ['AccordionGroup', accordionGroup],
  ['Expandable', expandable],
  ['Steps', steps],
  ['Step', loneStep],
  ['Frame', frame],
  ['Icon', iconComponent],
  ['Image', image],
  ['Link', link],
  ['Heading', heading],
  ['Badge', badge],
  ['Tooltip', tooltip],
  ['Snippet', snippetWithoutFile],
  ['Param', paramField],
  ['ParamField', paramField],
  ['ResponseField', responseField],
  ['RequestExample', example],
  ['ResponseExample', example],
  ['Update', update],
  ['Visibility', visibility],
  ['Panel', panel],
  ['Prompt', prompt],
  ['Mermaid', mermaid],
  ['Color', color],
  ['Color.Row', color],
  ['Color.Item', colorItem],
  ['GitHub.Repo', repository],
  ['Tree', tree],
  ['FileTree', tree],
  ...['Tree.Folder', 'Tree.File', 'FileTree.Folder', 'FileTree.File'].map((name) => [name, treeEntry] as const),
]);
