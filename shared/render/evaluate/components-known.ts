/** Names of the built-in components. A set, so that no name that JavaScript objects have by themselves is in it. */
export const builtInComponents: ReadonlySet<string> = new Set([
  ...['Note', 'Warning', 'Info', 'Tip', 'Check', 'Danger', 'Callout'],
  ...['Card', 'CardGroup', 'Columns', 'Column', 'Tile', 'Tiles'],
  ...['Tabs', 'Tab', 'CodeGroup', 'CodeBlock', 'View'],
  ...['Accordion', 'AccordionGroup', 'Expandable', 'Steps', 'Step'],
  ...['Frame', 'Icon', 'Image', 'Link', 'Heading', 'Badge', 'Tooltip', 'Snippet'],
  ...['Param', 'ParamField', 'ResponseField', 'RequestExample', 'ResponseExample'],
  ...['Update', 'Visibility', 'Panel', 'Prompt', 'Mermaid'],
  ...['Color', 'Color.Row', 'Color.Item', 'GitHub.Repo'],
  ...['Tree', 'FileTree', 'Tree.Folder', 'Tree.File', 'FileTree.Folder', 'FileTree.File'],
]);
