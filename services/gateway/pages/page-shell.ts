import { createHash } from 'node:crypto';
import { html, SafeHtml } from '#shared/docs/render/html.ts';

/** A complete page of the gateway with its policy: one style sheet in the page, and nothing else is loaded or run. */
export type GatewayPage = { text: string; headers: Readonly<Record<string, string>> };

export function gatewayPage(title: string, content: SafeHtml): GatewayPage {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new SafeHtml(styles)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${content}
</body>
</html>
`;
  return { text: page.text, headers };
}

const styles = `
:root { --text: #1b2027; --muted: #5a6472; --line: #e3e6ea; --surface: #f6f7f9; --accent: #1f5fbf; --quiet-red: #a33a2b; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ed; --muted: #9aa4b2; --line: #262b33; --surface: #151920; --accent: #7fb0ff; --quiet-red: #f09a8c; --page: #0c0f13; }
}
* { box-sizing: border-box; }
html { background: var(--page); color: var(--text); scroll-padding-top: 1.5rem; }
body { margin: 0; font: 16px/1.65 system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: 3px; text-decoration-thickness: 1px; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -9999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: .5rem .75rem; }
main { max-width: 48rem; padding: 3rem 1.25rem 6rem; margin: 0 auto; min-width: 0; }
h1 { font-size: 30px; line-height: 38px; letter-spacing: -.02em; margin: 0 0 .5rem; }
h2 { font-size: 24px; line-height: 32px; margin: 3.5rem 0 .5rem; }
h3 { font-size: 18px; line-height: 26px; margin: 2.75rem 0 .25rem; padding-top: 2rem; border-top: 1px solid var(--line); }
h4 { font-size: 14px; line-height: 20px; margin: 1.5rem 0 .25rem; }
p { margin: .5rem 0; }
.lead { font-size: 18px; line-height: 28px; color: var(--muted); }
.muted { color: var(--muted); font-size: 14px; line-height: 22px; }
code, pre { font-family: ui-monospace, "Cascadia Code", Menlo, Consolas, monospace; font-variant-ligatures: none; font-size: .875em; }
pre { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: .75rem 1rem; overflow-x: auto; font-size: 13.5px; line-height: 22px; margin: .5rem 0; }
.path { overflow-wrap: anywhere; }
.method { font-weight: 600; color: var(--accent); margin-right: .5rem; }
.wrap { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; line-height: 22px; }
th { text-align: left; font-size: 13px; font-weight: 500; color: var(--muted); }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; }
.required { color: var(--quiet-red); font-size: 12px; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; font-size: 14px; line-height: 22px; }
summary { cursor: pointer; }
ul { padding-left: 1.25rem; }
li { margin: .4rem 0; }
nav { font-size: 14px; line-height: 22px; padding: 1.5rem 1.25rem 0; }
nav ul { list-style: none; padding: 0; margin: .25rem 0 1.25rem; }
nav li { margin: .15rem 0; overflow-wrap: anywhere; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { color: var(--accent); text-decoration: underline; }
nav strong { font-size: 13px; }
@media (min-width: 1024px) {
  .with-contents { display: grid; grid-template-columns: 272px minmax(0, 1fr); }
  .with-contents nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); padding-bottom: 2rem; }
}
@media (max-width: 1023px) { .with-contents nav { border-bottom: 1px solid var(--line); max-height: 40vh; overflow-y: auto; } main { padding-top: 2rem; } }
@media print { nav { display: none; } pre { white-space: pre-wrap; } }
`;

const styleHash = createHash('sha256').update(styles).digest('base64');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-cache',
  vary: 'Accept',
};
