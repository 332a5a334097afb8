import { createHash } from 'node:crypto';
import { packTar } from './archives.ts';

/** Differences of a bundle from a real one. */
export type BundleChanges = {
  label?: string;
  deployment?: 'cloud' | 'client-hosted' | 'air-gapped';
  /** Files of the archive whose content differs from the manifest. */
  tampered?: Record<string, string>;
};

/**
 * A bundle of a small site whose pages, script and style sheet contain `version`, so that an answer shows which bundle it is from. `more`: further
 * files, by path.
 */
export async function exampleBundle(
  version: string,
  more: Record<string, string> = {},
  changes: BundleChanges = {},
): Promise<Buffer<ArrayBuffer>> {
  return packTar(exampleFiles(version, more, changes));
}

/** The files of such a bundle by their paths in the archive, the manifest last. */
export function exampleFiles(
  version: string,
  more: Record<string, string> = {},
  { label, deployment = 'client-hosted', tampered = {} }: BundleChanges = {},
): Record<string, string> {
  const files: Record<string, string> = {
    'index.html': examplePage(version, 'index', './'),
    'guides/x.html': examplePage(version, 'guides/x', '../'),
    'guides/x.md': `# Markdown of ${version}\n`,
    'guides/index.html': examplePage(version, 'guides/index', '../'),
    'old.html': `<!doctype html>\n<html lang="en">\n<head>\n<meta http-equiv="refresh" content="0; url=./guides/x.html#part">\n</head>\n<body></body>\n</html>\n`,
    '404.html':
      '<!doctype html>\n<html lang="en">\n<head>\n<title>Not here</title>\n</head>\n<body><a href="/index.html">Start</a></body>\n</html>\n',
    'logo.svg': `<svg xmlns="http://www.w3.org/2000/svg"><!-- ${version} --></svg>`,
    '_bindery/site.js': `window.version = '${version}';${' '.repeat(600)}\n`,
    '_bindery/theme.css': `body { --version: '${version}' }\n${'/* rule */\n'.repeat(80)}`,
    ...more,
  };
  const listed = Object.entries(files)
    .map(([path, text]) => ({
      path,
      size: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const manifest = {
    formatVersion: 1,
    domain: 'acme',
    ...(label !== undefined && { label }),
    contentVersion: `cv_${version}`,
    deployment,
    files: listed,
  };
  const config = `window.binderyConfig = {\n  "deployment": "${deployment}",\n  "features": {\n    "search": "bundle"\n  },\n  "siteUrl": ""\n};\n`;
  return Object.fromEntries(
    Object.entries({
      ...files,
      '_bindery/config.js': config,
      '_bindery/manifest.json': `${JSON.stringify(manifest, null, 1)}\n`,
      ...tampered,
    }).map(([path, text]) => [`acme/${path}`, text]),
  );
}

const policy = '&#39;self&#39; file:';

function examplePage(version: string, path: string, top: string): string {
  return `<!doctype html>
<html lang="en" data-current-path="/${path}" data-root="${top}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src ${policy}; base-uri &#39;none&#39;">
<title>${version}</title>
<script src="${top}_bindery/config.js"></script>
<link rel="stylesheet" href="${top}_bindery/theme.css">
</head>
<body>
<p>Version ${version}</p>
<a href="${top}guides/x.html?a=1&amp;b=2#part">Guide</a> <a href="${top}index.html">Start</a> <a href="https://example.com/x.html">Elsewhere</a>
<img src="${top}logo.svg" alt="">
<script src="${top}_bindery/site.js"></script>
</body>
</html>
`;
}
