import { refractor, type Syntax } from 'refractor/core';
import ada from 'refractor/ada';
import apacheconf from 'refractor/apacheconf';
import apex from 'refractor/apex';
import bash from 'refractor/bash';
import batch from 'refractor/batch';
import bicep from 'refractor/bicep';
import c from 'refractor/c';
import clojure from 'refractor/clojure';
import cmake from 'refractor/cmake';
import cobol from 'refractor/cobol';
import coffeescript from 'refractor/coffeescript';
import cpp from 'refractor/cpp';
import crystal from 'refractor/crystal';
import csharp from 'refractor/csharp';
import css from 'refractor/css';
import csv from 'refractor/csv';
import cue from 'refractor/cue';
import cypher from 'refractor/cypher';
import dLanguage from 'refractor/d';
import dart from 'refractor/dart';
import dhall from 'refractor/dhall';
import diff from 'refractor/diff';
import docker from 'refractor/docker';
import elixir from 'refractor/elixir';
import elm from 'refractor/elm';
import erlang from 'refractor/erlang';
import fortran from 'refractor/fortran';
import fsharp from 'refractor/fsharp';
import gherkin from 'refractor/gherkin';
import git from 'refractor/git';
import glsl from 'refractor/glsl';
import go from 'refractor/go';
import gradle from 'refractor/gradle';
import graphql from 'refractor/graphql';
import groovy from 'refractor/groovy';
import haskell from 'refractor/haskell';
import hcl from 'refractor/hcl';
import hlsl from 'refractor/hlsl';
import http from 'refractor/http';
import ignore from 'refractor/ignore';
import ini from 'refractor/ini';
import java from 'refractor/java';
import javascript from 'refractor/javascript';
import json from 'refractor/json';
import json5 from 'refractor/json5';
import jsx from 'refractor/jsx';
import julia from 'refractor/julia';
import kotlin from 'refractor/kotlin';
import kusto from 'refractor/kusto';
import latex from 'refractor/latex';
import lisp from 'refractor/lisp';
import log from 'refractor/log';
import lua from 'refractor/lua';
import makefile from 'refractor/makefile';
import markdown from 'refractor/markdown';
import markup from 'refractor/markup';
import matlab from 'refractor/matlab';
import mongodb from 'refractor/mongodb';
import nasm from 'refractor/nasm';
import nginx from 'refractor/nginx';
import nim from 'refractor/nim';
import nix from 'refractor/nix';
import objectivec from 'refractor/objectivec';
import ocaml from 'refractor/ocaml';
import pascal from 'refractor/pascal';
import perl from 'refractor/perl';
import php from 'refractor/php';
import powershell from 'refractor/powershell';
import prolog from 'refractor/prolog';
import promql from 'refractor/promql';
import properties from 'refractor/properties';
import protobuf from 'refractor/protobuf';
import puppet from 'refractor/puppet';
import purescript from 'refractor/purescript';
import python from 'refractor/python';
import qml from 'refractor/qml';
import r from 'refractor/r';
import racket from 'refractor/racket';
import regex from 'refractor/regex';
import rego from 'refractor/rego';
import rescript from 'refractor/rescript';
import ruby from 'refractor/ruby';
import rust from 'refractor/rust';
import scala from 'refractor/scala';
import scheme from 'refractor/scheme';
import shellSession from 'refractor/shell-session';
import solidity from 'refractor/solidity';
import sparql from 'refractor/sparql';
import splunkSpl from 'refractor/splunk-spl';
import sql from 'refractor/sql';
import stata from 'refractor/stata';
import swift from 'refractor/swift';
import systemd from 'refractor/systemd';
import tcl from 'refractor/tcl';
import toml from 'refractor/toml';
import tsx from 'refractor/tsx';
import turtle from 'refractor/turtle';
import typescript from 'refractor/typescript';
import vLanguage from 'refractor/v';
import vala from 'refractor/vala';
import vbnet from 'refractor/vbnet';
import verilog from 'refractor/verilog';
import vhdl from 'refractor/vhdl';
import vim from 'refractor/vim';
import wasm from 'refractor/wasm';
import wgsl from 'refractor/wgsl';
import xquery from 'refractor/xquery';
import yaml from 'refractor/yaml';

/*
 * Prism's grammars from `refractor`: the languages of documentation. All are registered at once and in this order, because some change others when
 * they are registered. So the colours of code do not depend on earlier pages.
 */
const syntaxes: readonly Syntax[] = [
  ...[
    markup,
    css,
    javascript,
    regex,
    jsx,
    typescript,
    tsx,
    json,
    json5,
    yaml,
    bash,
    shellSession,
    python,
    sql,
    go,
    rust,
  ],
  ...[
    java,
    c,
    cpp,
    csharp,
    php,
    ruby,
    swift,
    kotlin,
    dart,
    scala,
    groovy,
    gradle,
    objectivec,
    lua,
    perl,
    r,
    julia,
    matlab,
  ],
  ...[elixir, erlang, haskell, clojure, ocaml, fsharp, solidity, wasm, nix, markdown, diff, git],
  ...[docker, nginx, hcl, toml, ini, properties, systemd, makefile, cmake, batch, powershell, graphql, protobuf, http],
  ...[csv, log, ignore, cypher, mongodb, promql, rego, sparql, splunkSpl],
  ...[ada, apacheconf, apex, bicep, cobol, coffeescript, crystal, cue, dLanguage, dhall, elm, fortran, gherkin, glsl],
  ...[hlsl, kusto, latex, lisp, nasm, nim, pascal, prolog, puppet, purescript, qml, racket, rescript, scheme],
  ...[stata, tcl, turtle, vLanguage, vala, vbnet, verilog, vhdl, vim, wgsl, xquery],
];

/** A piece of code with a type (`keyword`), further names of the type, and nested pieces. */
export type PrismToken = {
  type: string;
  alias?: string | string[];
  content: string | PrismToken | (string | PrismToken)[];
};
/** Patterns by type. Prism applies them in order to text that is still plain. */
type Grammar = Record<string, unknown>;
type Pattern = { pattern: RegExp; lookbehind?: true; greedy?: true };

/** Members of Prism that `refractor` has and does not declare. */
const prism = refractor as unknown as {
  languages: Record<string, Grammar> & {
    extend(language: string, changed: Grammar): Grammar;
    insertBefore: (inside: string, before: string, insert: Grammar, root?: object) => Grammar;
    DFS: (from: object, visit: (this: object, key: string, value: unknown) => void, ...rest: unknown[]) => void;
  };
  tokenize(code: string, grammar: Grammar | undefined): (string | PrismToken)[];
  hooks: { run(name: string, work: Work): void };
};
type Work = { code: string; language: string; grammar: Grammar | undefined; tokens: (string | PrismToken)[] };

/**
 * Registers the syntaxes. If patterns are inserted into a grammar, Prism replaces it, and searches all languages for references to the old one. Only
 * the grammar and its aliases refer to the old one, so the search is limited to them. Registration then takes a third of the time, which every child
 * spends at its start.
 */
function registerSyntaxes(): void {
  const { languages } = prism;
  const { insertBefore, DFS: search } = languages;
  let changed: string | undefined;
  languages.insertBefore = (inside, before, insert, root) => {
    changed = root === undefined ? inside : undefined;
    return insertBefore(inside, before, insert, root);
  };
  languages.DFS = (from, visit, ...rest) => {
    const grammar = from === languages && changed !== undefined ? languages[changed] : undefined;
    if (grammar === undefined) return search(from, visit, ...rest);
    for (const [name, value] of Object.entries(languages)) visit.call(languages, name, value);
    return search(grammar, visit);
  };
  for (const syntax of syntaxes) refractor.register(syntax);
  languages.insertBefore = insertBefore;
  languages.DFS = search;
}
registerSyntaxes();

// Replaces Prism's own grammars, which take seconds for a few kilobytes of hostile code.
prism.languages['scss'] = prism.languages['less'] = prism.languages.extend('css', {
  comment: { pattern: /(^|[^\\:])(?:\/\*[\s\S]*?\*\/|\/\/.*)/, lookbehind: true, greedy: true },
});
// Tags of MDX have attributes in braces.
prism.languages['mdx'] = prism.languages.extend('markdown', { tag: prism.languages['jsx']?.['tag'] });
addPatterns(['scss', 'less'], { variable: /[$@][A-Za-z_][\w-]*/ });

/** Languages by name and alias. Names of plain text are left out. */
export const prismLanguages: ReadonlyMap<string, string> = languageNames();

function languageNames(): Map<string, string> {
  const byGrammar = new Map<Grammar | undefined, string>([[prism.languages['plain'], '']]);
  const names = new Map<string, string>();
  for (const name of refractor.listLanguages()) {
    const grammar = prism.languages[name];
    const language = byGrammar.get(grammar) ?? name;
    byGrammar.set(grammar, language);
    if (language !== '') names.set(name, language);
  }
  return names;
}

/** Splits code into tokens. `language` is a value of `prismLanguages`. In the worst case the time grows with the square of the code's length. */
export function tokenize(code: string, language: string): (string | PrismToken)[] {
  const work: Work = { code, language, grammar: prism.languages[language], tokens: [] };
  // Some grammars, such as JSX, finish their work in these hooks.
  prism.hooks.run('before-tokenize', work);
  work.tokens = prism.tokenize(work.code, work.grammar);
  prism.hooks.run('after-tokenize', work);
  return work.tokens;
}

/*
 * Patterns for code that TextMate grammars colour and Prism's grammars leave plain: commands of a shell, calls, and names whose members are used.
 * They come last, so they match only text that is still plain. They are greedy so that they see the text around it, and they have no nested
 * repetition.
 */
const object: Pattern = { pattern: /(?<![.\w$])[A-Za-z_$][\w$]*(?=\??\.[A-Za-z_$])/, greedy: true };
const constant: Pattern = { pattern: /(\bconst\s{1,4})[A-Za-z_$][\w$]*/, lookbehind: true, greedy: true };
const method: Pattern = { pattern: /(?<=[\w)\]}"']\.)[a-z_]\w*[?!]?/, greedy: true };
const label: Pattern = { pattern: /(?<=[(,]\s{0,20})[a-z_]\w*(?=:\s)/, greedy: true };
const unit: Pattern = { pattern: /(?<=[\s(,:+*/-](?:\d{0,9}\.)?\d{1,9})(?:%|[a-z]{1,4}\b)/, greedy: true };
const command: Pattern = {
  pattern:
    /(^[ \t]*(?:[$#%>] )?|[|;&(`]\s{0,4}|\b(?:sudo|exec|time|then|do|else|xargs|npx)[ \t]+)[A-Za-z_.~/][\w.~/+@-]*(?=$|[\s;|&)])/m,
  lookbehind: true,
  greedy: true,
};

function addPatterns(languages: readonly string[], patterns: Grammar): void {
  for (const language of languages) Object.assign(prism.languages[language] ?? {}, patterns);
}

// The patterns for bash and JavaScript also serve languages that embed them: shell sessions, and tags in Markdown. Prism's `function` of bash is
// removed because it is a list of programs that it also colours among arguments.
delete prism.languages['bash']?.['function'];
addPatterns(['bash'], { function: command });
addPatterns(['javascript', 'jsx'], { 'constant-name': constant, object });
addPatterns(['scss', 'less'], { unit });
addPatterns(['swift'], { method, label });
