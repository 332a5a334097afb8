import { pagesToOpen } from './pages.ts';

/** Elements that run a handler without a reader's help, or with one event. */
const elements = [
  ...['img src=x', 'svg', 'body', 'video src=x', 'audio src=x', 'iframe', 'input autofocus', 'details open', 'marquee'],
  ...['object data=x', 'embed src=x', 'style', 'link rel=stylesheet href=x', 'select autofocus', 'textarea autofocus'],
  ...[
    'button autofocus',
    'form',
    'math',
    'table background=x',
    'a href=x',
    'p',
    'x-y tabindex=0',
    'base href=//evil.test/',
  ],
];
const handlers =
  'onerror onload onfocus ontoggle onstart onmouseover onclick onbegin onanimationstart ontransitionend onpageshow onbeforetoggle oncontentvisibilityautostatechange onscrollsnapchange onpointerenter oncanplay'.split(
    ' ',
  );

/** Ways to write an address so that a filter of texts does not know it, while a browser does. */
const spellings: readonly ((scheme: string) => string)[] = [
  (scheme) => scheme,
  (scheme) => scheme.toUpperCase(),
  (scheme) => ` ${scheme}`,
  (scheme) => `\u0001${scheme}`,
  (scheme) => `\u00a0${scheme}`,
  (scheme) => `\ufeff${scheme}`,
  (scheme) => scheme.replace(/^../, '$&\t'),
  (scheme) => scheme.replace(/^../, '$&\n'),
  (scheme) => scheme.replace(':', '&colon;'),
  (scheme) => scheme.replace(':', '&#58;'),
  (scheme) => scheme.replace(':', '%3a'),
  (scheme) => scheme.replace(':', '\u2236'),
  (scheme) => `&#${scheme.charCodeAt(0)};${scheme.slice(1)}`,
  (scheme) => `\\${scheme}`,
  (scheme) => `//evil.test/${scheme}`,
  (scheme) => `https://evil.test@${scheme}`,
  (scheme) => `${scheme}//%0a`,
  (scheme) => `view-source:${scheme}`,
];
const schemes = [
  ...[
    'javascript:pwned(1)',
    'vbscript:pwned(1)',
    'data:text/html,<script>pwned(1)</script>',
    'blob:https://evil.test/x',
  ],
  ...['data:image/svg+xml,<svg onload=pwned(1)>', 'file:///etc/passwd', 'intent://evil.test', 'mailto:a@b.test?body=x'],
];
const shapes: readonly ((address: string) => string)[] = [
  (address) => `[x](${address})`,
  (address) => `[x](<${address}>)`,
  (address) => `![x](${address})`,
  (address) => `<${address}>`,
  (address) => `[x][r]\n\n[r]: ${address}`,
  (address) => `<a href="${address}">x</a>`,
  (address) => `[![x](${address})](${address} "${address}")`,
];

/** Texts that leave the place where they stand, in HTML or in Markdown. */
const escapes = [
  ...[
    '</script>',
    '</style>',
    '</template>',
    '</textarea>',
    '</title>',
    '</pre></code>',
    '</svg>',
    '-->',
    ']]>',
    '"',
    "'",
  ],
  ...[
    '`',
    '```\n',
    '\n\n',
    '](',
    ')',
    '|',
    '\n|-|\n',
    '<!--',
    '<![CDATA[',
    '\u2028',
    '\u0000',
    '&quot;',
    '&#34;',
    '\\"',
  ],
  ...['{{', '${', '<%', '*'.repeat(9), '_'.repeat(9), '[', '<', '\ud800', '\u202e'],
];
const runners = [
  '<script>pwned(1)</script>',
  '<img src=x onerror=pwned(1)>',
  '<svg/onload=pwned(1)>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=pwned(1)&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=pwned(1)>">',
  'javascript:pwned(1)',
  '[x](javascript:pwned(1))',
  'constructor.constructor("pwned(1)")()',
  '__proto__',
  'data:text/html;base64,PHNjcmlwdD5wYXJlbnQucHduZWQoMSk8L3NjcmlwdD4=',
];

/** Texts of at most 4,000 characters that try to run `pwned`, or to load something from elsewhere: those of hostile pages, line by line and whole, and combinations. */
export function hostilePayloads(): string[] {
  const sources = Object.values(pagesToOpen).flatMap(({ source }) =>
    typeof source === 'string' && source.length < 4_000 ? [source, ...source.split('\n')] : [],
  );
  const handled = elements.flatMap((element) =>
    handlers.flatMap((handler) => [`<${element} ${handler}=pwned(1)>`, `<${element}/${handler}='pwned(1)'//`]),
  );
  const addressed = schemes.flatMap((scheme) =>
    spellings.flatMap((spelled) => shapes.map((shape) => shape(spelled(scheme)))),
  );
  const escaped = escapes.flatMap((escape) => runners.flatMap((runner) => [escape + runner, escape + runner + escape]));
  return [...new Set([...sources, ...handled, ...addressed, ...escaped])].filter((text) => text.trim() !== '');
}
