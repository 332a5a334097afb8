import type { FindingTexts } from './finding-text.ts';

/** Findings about the syntax, components, imports and expressions of pages. */
export const pageFindings = {
  'bad-encoding': {
    severity: 'warning',
    says: 'a file is not UTF-8, or has characters that are not allowed in texts.',
    repair: 'Save the file as UTF-8.',
  },
  'bad-frontmatter': {
    severity: 'warning',
    says: 'the frontmatter is not valid YAML, or has a YAML tag, which is left out.',
    repair: 'Correct the YAML. A value with a colon, or one that begins with `@` or `*`, needs quotation marks.',
    example: {
      file: 'index.mdx',
      before: '---\ntitle: "Start\ndescription: Begin here\n---',
      after: '---\ntitle: "Start"\ndescription: Begin here\n---',
    },
  },
  'mdx-repaired': {
    severity: 'warning',
    says: 'a part of the page is no valid MDX. Bindery reads it as the message says, and other programs may refuse the page.',
    repair: 'Write what the message names. `--fix` adds the slash of tags such as `<br>`.',
    example: { file: 'index.mdx', before: 'One line<br>and another.', after: 'One line<br />and another.' },
    fix: true,
  },
  'mdx-syntax': {
    severity: 'error',
    says: 'so much of the page is no valid MDX that it is shown as plain Markdown, with its tags as text.',
    repair: 'Correct the first place, which the message names, and check again. Other problems often follow from it.',
  },
  'page-not-parsed': {
    severity: 'error',
    says: 'the page cannot be parsed and is shown as its source.',
    repair: 'Remove the part that the message names.',
  },
  'page-not-rendered': {
    severity: 'error',
    says: 'rendering the page took too long, or ended the process that renders it. An export with this page fails.',
    repair: 'Split the page, and look for very large tables, code blocks or formulas.',
  },
  'page-too-large': {
    severity: 'error',
    says: 'the page exceeds a limit of size and is shown as its source.',
    repair: 'Split the page.',
  },
  'nesting-too-deep': {
    severity: 'error',
    says: 'lists, quotes or components are nested deeper than Bindery reads.',
    repair: 'Use fewer levels.',
  },
  'expression-too-deep': {
    severity: 'warning',
    says: 'an expression in braces is nested deeper than Bindery evaluates.',
    repair: 'Use a shorter expression.',
  },
  'undefined-variable': {
    severity: 'error',
    says: 'a page uses a variable such as `{{version}}` that `variables` in `docs.json` does not have.',
    repair: 'Add the variable, or write the braces as code.',
    example: { file: 'index.mdx', before: 'Version {{version}}', after: 'Version {{product}}' },
    others: {
      'docs.json':
        '{ "name": "A", "theme": "mint", "colors": { "primary": "#0f766e" }, "variables": { "product": "Acme" }, "navigation": { "pages": ["index"] } }',
    },
  },
  'table-cells-dropped': {
    severity: 'warning',
    says: 'a row of a table has more cells than the head of the table, and Markdown drops them.',
    repair: 'Add columns to the head, or write a pipe inside a cell as `\\|`.',
    example: {
      file: 'index.mdx',
      before: '| Name | Use |\n|---|---|\n| a | one | two |',
      after: '| Name | Use | More |\n|---|---|---|\n| a | one | two |',
    },
  },
  'unknown-component': {
    severity: 'warning',
    says: 'there is no component of this name. Its content is shown without it.',
    repair: 'Correct the name, or import the component.',
    example: { file: 'index.mdx', before: '<Notice>Mind the gap.</Notice>', after: '<Note>Mind the gap.</Note>' },
  },
  'property-without-effect': {
    severity: 'warning',
    says: 'a component has a property that changes nothing.',
    repair: 'Remove the property. The [format](/reference/format) has the reason.',
    example: {
      file: 'index.mdx',
      before: '<Tabs borderBottom>\n<Tab title="A">One.</Tab>\n</Tabs>',
      after: '<Tabs>\n<Tab title="A">One.</Tab>\n</Tabs>',
    },
  },
  'element-not-allowed': {
    severity: 'warning',
    says: 'an HTML element cannot be in a page, so it is left out.',
    repair: 'Use Markdown or a component. Scripts belong into a `.js` file of the project.',
    example: { file: 'index.mdx', before: '<marquee>News</marquee>', after: '**News**' },
  },
  'island-not-run': {
    severity: 'warning',
    says: 'a component has to run in the browser, and the export does not allow scripts of the project.',
    repair: 'Allow scripts in the request of the export, or use a component without hooks and handlers.',
  },
  'expression-not-static': {
    severity: 'warning',
    says: 'an expression has no value while pages are rendered, such as a call of `fetch`. It is left out, or shown as it was written.',
    repair: 'Write the value, export a constant, or write `\\{` where no expression is meant.',
    example: { file: 'index.mdx', before: 'The path is /users/{id}.', after: 'The path is `/users/{id}`.' },
  },
  'export-not-static': {
    severity: 'warning',
    says: 'a statement of a page or snippet is neither a constant nor a component, so it is left out.',
    repair: 'Export constants and arrow functions only.',
    example: {
      file: 'index.mdx',
      before: 'export class Box {}\n\nWords.',
      after: 'export const count = 1\n\nWords.',
    },
  },
  'import-not-found': {
    severity: 'warning',
    says: 'an imported file does not exist, or it exports no such name.',
    repair: 'Correct the path, which begins with `/` for the project or with `./` for the folder of the file.',
    example: {
      file: 'index.mdx',
      before: 'import Note1 from "/snippets/none.mdx"\n\n<Note1 />',
      after: 'import Note1 from "/snippets/note.mdx"\n\n<Note1 />',
    },
    others: { 'snippets/note.mdx': 'Words of a snippet.' },
  },
  'import-not-allowed': {
    severity: 'warning',
    says: 'an import names a package. Only files of the project can be imported.',
    repair: 'Remove the import. The hooks of React need none.',
    example: { file: 'index.mdx', before: 'import { x } from "some-package"\n\nWords.', after: 'Words.' },
  },
  'import-outside-project': {
    severity: 'warning',
    says: 'an import leads out of the project.',
    repair: 'Copy the file into the project.',
    example: { file: 'index.mdx', before: 'import X from "../../x.mdx"\n\nWords.', after: 'Words.' },
  },
  'import-not-parsed': {
    severity: 'warning',
    says: 'an imported file of code cannot be read.',
    repair: 'Correct the syntax error that the message names.',
    example: {
      file: 'snippets/badge.jsx',
      before: 'export const Badge1 = () => <b>New<b>;',
      after: 'export const Badge1 = () => <b>New</b>;',
    },
    others: { 'index.mdx': 'import { Badge1 } from "/snippets/badge.jsx"\n\n<Badge1 />' },
  },
  'import-too-deep': {
    severity: 'warning',
    says: 'a file is imported through too many other files and is left out.',
    repair: 'Import it from a file that is nearer to the page.',
  },
  'component-recursion': {
    severity: 'warning',
    says: 'a component renders itself. The inner one is left out.',
    repair: 'Remove the inner one.',
  },
  'island-not-compiled': {
    severity: 'warning',
    says: 'a component that should run in the browser cannot be compiled.',
    repair: 'Correct what the message names.',
  },
  'islands-too-large': {
    severity: 'warning',
    says: 'the components of a page have more than 1 MB of code, so they do not run.',
    repair: 'Import fewer files.',
  },
  'math-not-rendered': {
    severity: 'warning',
    says: 'a formula is no valid LaTeX and is shown as its source.',
    repair: 'Correct the formula, or write `\\$` where a dollar sign is meant.',
    example: {
      file: 'index.mdx',
      before: 'The formula $\\frac{1$ is open.',
      after: 'The formula $\\frac{1}{2}$ is closed.',
    },
  },
  'diagram-too-large': {
    severity: 'warning',
    says: 'a Mermaid diagram is too long to be drawn and is shown as its source.',
    repair: 'Split the diagram.',
  },
  'bidi-in-code': {
    severity: 'warning',
    says: 'a code block has characters that reorder the text around them, so that code can look like other code. They are shown as code points.',
    repair: 'Remove the characters.',
  },
  'style-left-out': {
    severity: 'warning',
    says: 'a `<style>` is left out: its brackets do not match, or the page has too many styles.',
    repair: 'Correct the style, or use a `.css` file of the project.',
    example: {
      file: 'index.mdx',
      before: '<style>{`.a { color: red `}</style>\n\nWords.',
      after: '<style>{`.a { color: red }`}</style>\n\nWords.',
    },
  },
  'too-many-classes': {
    severity: 'warning',
    says: 'the pages together have so many different class names that the last ones have no styles.',
    repair: 'Use fewer class names.',
  },
  'card-left-out': {
    severity: 'info',
    says: 'the preview picture for links to this page in social networks is not drawn, because its title has letters that the fonts of Bindery lack.',
    repair:
      'Nothing has to be done: links to the page have no picture. A picture of your own can be named in `seo.metatags` or in the frontmatter as `og:image`.',
  },
  'claimed-groups': {
    severity: 'warning',
    says: 'a page is restricted to groups, and the domain trusts the groups that callers claim.',
    repair: "Ask the operator to set the domain's `groups` to `signed`.",
  },
} satisfies FindingTexts;
