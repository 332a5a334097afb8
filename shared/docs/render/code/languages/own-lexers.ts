import type { Lexer } from '../lexer.ts';
import { csharpLexer, dartLexer, javaLexer, phpLexer, rustLexer } from './c-like.ts';
import { cssLexer } from './css.ts';
import { goLexer } from './go.ts';
import { javascriptLexer, tsxLexer, typescriptLexer } from './javascript.ts';
import { jsonLexer } from './json.ts';
import { markupLexer } from './markup.ts';
import { pythonLexer } from './python.ts';
import { rubyLexer } from './ruby.ts';
import { shellLexer } from './shell.ts';
import { sqlLexer } from './sql.ts';
import { yamlLexer } from './yaml.ts';

/** Lexers by the names that Prism gives to their languages. */
export const ownLexers: ReadonlyMap<string, Lexer> = new Map([
  ['javascript', javascriptLexer],
  ['jsx', javascriptLexer],
  ['typescript', typescriptLexer],
  ['tsx', tsxLexer],
  ['python', pythonLexer],
  ['bash', shellLexer],
  ['yaml', yamlLexer],
  ['json', jsonLexer],
  ['sql', sqlLexer],
  ['go', goLexer],
  ['css', cssLexer],
  ['markup', markupLexer],
  ['java', javaLexer],
  ['rust', rustLexer],
  ['php', phpLexer],
  ['csharp', csharpLexer],
  ['dart', dartLexer],
  ['ruby', rubyLexer],
]);
