import { expect, test } from 'vitest';
import { classifyUrl, isExternalHref, isInlineImage, isSafeHref } from './url-policy.ts';

const cases: [written: string, kind: string][] = [
  ['/guides/x?a=1#b', 'path'],
  ['./x', 'path'],
  ['x.html', 'path'],
  ['#top', 'anchor'],
  ['', 'anchor'],
  ['https://example.com', 'external'],
  ['mailto:a@example.com', 'external'],
  ['cursor://anysphere.cursor-deeplink/mcp/install?name=X', 'external'],
  ['vscode:mcp/install?x', 'external'],
  ['VSCode-Insiders:mcp/install?%7B%22name%22%3A%22x%22%7D', 'external'],
  ['slack://channel?id=C1', 'external'],
  ['zoommtg://zoom.us/join', 'external'],
  ['msteams:/l/chat', 'external'],
  ['//example.com', 'external'],
  ['\\\\example.com\\x', 'external'],
  ['/\\example.com', 'external'],
  ['javascript:alert(1)', 'refused'],
  ['  JaVaScRiPt:alert(1)', 'refused'],
  ['java\tscript:alert(1)', 'refused'],
  ['\u0001javascript:alert(1)', 'refused'],
  ['\u200bjavascript:alert(1)', 'refused'],
  ['data:text/html,x', 'refused'],
  ['vbscript:x', 'refused'],
  ['file:///etc/passwd', 'refused'],
  ['blob:x', 'refused'],
  ['ms-msdt:/id x', 'refused'],
  ['search-ms:query=x', 'refused'],
  ['view-source:https://example.com', 'refused'],
  ['intent://x#Intent;end', 'refused'],
  ['unknown-program:x', 'refused'],
  ['http://', 'refused'],
];

test.each(cases)('%j is %s', (written, kind) => {
  expect(classifyUrl(written).kind).toBe(kind);
});

test('inline pictures are allowed only in formats that cannot contain scripts', () => {
  expect(isInlineImage('data:image/png;base64,iVBORw0=')).toBe(true);
  expect(isInlineImage('data:image/svg+xml;base64,PHN2Zz4=')).toBe(false);
  expect(isInlineImage('data:text/html;base64,PHN2Zz4=')).toBe(false);
});

test.each([
  ['https://a.example', true],
  ['mailto:a@b.example', true],
  ['/x', true],
  ['guides/x', true],
  ['#a', true],
  ['/a?b=c:d', true],
  ['javascript:alert(1)', false],
  [' java\u0000script:alert(1)', false],
  ['JAVA\tSCRIPT:alert(1)', false],
  ['data:text/html,x', false],
  ['vbscript:x', false],
  ['file:///etc/passwd', false],
])('%j may be linked to: %s', (href, safe) => {
  expect(isSafeHref(href)).toBe(safe);
});

test.each([
  ['//a.example', true],
  ['\\\\a.example', true],
  ['https://a.example', true],
  ['/a', false],
  ['a/b', false],
])('%j leads elsewhere: %s', (href, external) => {
  expect(isExternalHref(href)).toBe(external);
});
