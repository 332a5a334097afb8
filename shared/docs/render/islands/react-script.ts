import { readFile } from 'node:fs/promises';
import { minifySync } from 'oxc-minify';
import { packageFile } from '#shared/runtime/installed-packages.ts';

/** React's production files, by the names with which they import each other. */
const modules = [
  ['react', packageFile('react/cjs/react.production.js')],
  ['scheduler', packageFile('scheduler/cjs/scheduler.production.js')],
  ['react-dom', packageFile('react-dom/cjs/react-dom.production.js')],
  ['react-dom/client', packageFile('react-dom/cjs/react-dom-client.production.js')],
] as const;

const notice = '/*! React, Copyright (c) Meta Platforms, Inc. and affiliates, MIT License: see third-party.txt */\n';

let known: Promise<string> | undefined;

/** `_bindery/react.js`: sets `window.binderyReact` to React and React DOM. It is a classic script with the same bytes each time. */
export function reactScript(): Promise<string> {
  known ??= makeScript();
  return known;
}

async function makeScript(): Promise<string> {
  const functions = await Promise.all(
    modules.map(async ([name, file]) => {
      const text = await readFile(file, 'utf8');
      return `${JSON.stringify(name)}: function (module, exports, require) {\n${text}\n}`;
    }),
  );
  const whole = `(function () {
var made = {};
var modules = {\n${functions.join(',\n')}\n};
function require(name) {
  if (made[name]) return made[name].exports;
  var module = (made[name] = { exports: {} });
  modules[name](module, module.exports, require);
  return module.exports;
}
window.binderyReact = { React: require('react'), ReactDOM: require('react-dom'), client: require('react-dom/client') };
})();`;
  const { code, errors } = minifySync('react.js', whole, {
    codegen: { removeWhitespace: true, legalComments: 'none' },
  });
  if (errors.length > 0) throw new Error(`React cannot be minified: ${errors[0]?.message}`);
  return `${notice}${code}\n`;
}
