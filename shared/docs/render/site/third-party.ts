/* Works of others in pages. Their licences require the notice, so every bundle has it. */

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

const isc = `Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`;

const notices = [
  `Lucide (https://lucide.dev)
Copyright (c) 2026 Lucide Icons and Contributors
ISC License

${isc}

Some of its icons are derived from the Feather project.
Copyright (c) 2013-present Cole Bemis
The MIT License (MIT)

${mit}`,
  `Font Awesome Free (https://fontawesome.com)
Copyright (c) 2026 Fonticons, Inc.
The icons are under the Creative Commons Attribution 4.0 International License:
https://creativecommons.org/licenses/by/4.0/
They are part of the pages, without changes to their outlines. Icons of brands
are trademarks of their owners and stand for these brands only.`,
  `Tabler Icons (https://tabler.io/icons)
Copyright (c) 2020-2026 Paweł Kuna
MIT License

${mit}`,
  `KaTeX (https://katex.org), formulas with their style sheet and fonts
Copyright (c) 2013-2020 Khan Academy and other contributors
The MIT License (MIT)

${mit}`,
  `Mermaid (https://mermaid.js.org), in _bindery/mermaid.js where pages have diagrams
Copyright (c) 2014 - 2022 Knut Sveidqvist
The MIT License (MIT)

${mit}

Works of others that are part of it are named in that file.`,
  `React (https://react.dev), in _bindery/react.js where components of pages run in the browser
Copyright (c) Meta Platforms, Inc. and affiliates.
MIT License

${mit}`,
];

/** `_bindery/third-party.txt`: works of others that the pages of a bundle may contain, with their owners and licences. */
export const thirdPartyNotices = `The pages of this site may contain works of these projects.

${notices.map((notice) => `${'-'.repeat(78)}\n${notice}\n`).join('\n')}`;
