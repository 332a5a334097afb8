import { readFileSync } from 'node:fs';
import { scriptJson } from '../html.ts';
import type { InterfaceTexts } from '../interface-texts/interface-texts.ts';
import { languageOf } from '../interface-texts/language.ts';
import { joinedScript, themePart } from './browser-files.ts';
import type { PlaygroundTexts } from './playground-form.ts';

const styles = themePart(readFileSync(new URL('playground.css', import.meta.url), 'utf8'));

/** Parts of the script in order; they share one scope. */
const parts = ['values', 'request', 'command', 'fields', 'form', 'answer-text', 'answer', 'dialog'];

/** Files that pages load when a reader opens the form: script, style sheet, and the texts of each named language. */
export function playgroundFiles(textsNames: Iterable<string>): { path: string; text: string }[] {
  const words = [...new Set(textsNames)].sort().map((name) => ({
    path: `_bindery/playground/${name}.js`,
    text: `window.binderyPlaygroundTexts = ${scriptJson(textsOf(languageOf(name).texts))};\n`,
  }));
  return [
    { path: '_bindery/playground.css', text: styles },
    { path: '_bindery/playground.js', text: playgroundScript() },
    ...words,
  ];
}

function playgroundScript(): string {
  const purpose = 'Sends requests from the reader’s browser to the server of an API. Entered values are not stored.';
  return joinedScript(
    purpose,
    ['elements', 'clipboard', ...parts.map((name) => `playground/${name}`)],
    ['copy', 'x', 'send'],
  );
}

function textsOf(texts: InterfaceTexts): PlaygroundTexts {
  const { playground, request, response, required, deprecated, defaultValue, reference, scripts } = texts;
  const { servers, authorizations, pathParameters, queryParameters, headers, cookies, body } = reference;
  const sections = { servers, authorizations, pathParameters, queryParameters, headers, cookies, body };
  return { ...playground, ...sections, request, response, required, deprecated, defaultValue, copy: scripts.copy };
}
