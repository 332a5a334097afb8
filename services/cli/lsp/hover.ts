import type { Hover } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { extensionOf } from '#shared/docs/project/project-files.ts';
import { componentWords, documentationOf, frontmatterWords, type SettingWords, settingAt } from './format-words.ts';
import { placeInJson, placeInPage } from './written-place.ts';

/** The documentation of the component, property, frontmatter key or setting at an offset; null for anything else. Pure. */
export function hoverAt(document: TextDocument, offset: number, file: string): Hover | null {
  const text = document.getText();
  const hover = (
    name: string,
    words: SettingWords | undefined,
    { start, end }: { start: number; end: number },
  ): Hover | null =>
    words === undefined
      ? null
      : {
          contents: {
            kind: 'markdown',
            value: `**${name}**\n\n${words.support === undefined ? words.says : documentationOf(words.support)}`,
          },
          range: { start: document.positionAt(start), end: document.positionAt(end) },
        };
  if (extensionOf(file) === 'json') {
    const place = placeInJson(text, offset);
    if (place?.isKey !== true) return null;
    return hover(place.path.filter((part) => typeof part === 'string').join('.'), settingAt(place.path), place);
  }
  // The end of a name belongs to it: editors ask for the offset before the letter below the pointer.
  const place = placeInPage(text, offset);
  const said = place && text.slice(place.start, place.end);
  switch (place?.kind) {
    case 'component': {
      const words = componentWords.get(said ?? '');
      return hover(`<${said}>`, words && { support: words.support, says: '' }, place);
    }
    case 'prop':
      return hover(
        `${place.component}.${said}`,
        wordsOf(componentWords.get(place.component)?.props.get(said ?? '')),
        place,
      );
    case 'prop-value':
      return hover(
        `${place.component}.${place.prop}`,
        wordsOf(componentWords.get(place.component)?.props.get(place.prop)),
        place,
      );
    case 'frontmatter-key':
      return hover(said ?? '', wordsOf(frontmatterWords.get(said ?? '')), place);
    default:
      return null;
  }
}

const wordsOf = (support: SettingWords['support']): SettingWords | undefined =>
  support && { support, says: support.says };
