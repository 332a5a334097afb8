import { expect, test } from 'vitest';
import { requireNativeParser } from './native-code.ts';

test('the native code of the parser is installed, or an error says which package is missing and what to do', () => {
  expect(() => requireNativeParser()).not.toThrow();
  expect(() => requireNativeParser('plan9-x64')).toThrow(
    /^The parser of pages has no native code for this system: the package @bruits\/satteri-plan9-x64 is not installed\. Run "npm ci"/,
  );
  expect(() => requireNativeParser('linux-x64-gnu', 'file:///nowhere/at-all.js')).toThrow('is not installed');
});
