/** Files of a docs project by path. */
export type Contents = Record<string, string | Uint8Array>;

/** Pseudo-random whole numbers below a limit, determined by the seed. */
export function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % limit;
  };
}

/** The beginning of a picture of this width. */
const picture = (width: number): Uint8Array => {
  const bytes = Buffer.alloc(32);
  bytes.write('\u0089PNG\r\n\u001a\n', 'latin1');
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(10, 20);
  return bytes;
};
/** An OpenAPI description with an operation for each path. */
const testDescription = (paths: readonly string[]): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'API', version: '1' },
    paths: Object.fromEntries(
      paths.map((path) => [`/${path}`, { get: { summary: `Get ${path}`, responses: { 200: { description: 'ok' } } } }]),
    ),
  });

/** One change of a project, as an author makes it. */
export function changedProject(before: Contents, roll: (limit: number) => number, round: number): Contents {
  const files = { ...before };
  const names = Object.keys(files).filter((path) => /\.mdx?$/.test(path));
  const some = names[roll(names.length)] ?? 'index.mdx';
  const other = names[roll(names.length)] ?? 'index.mdx';
  const pages = (text: string): string => {
    const config = JSON.parse(text) as { navigation: { pages: unknown[] } };
    config.navigation.pages = names.filter(() => roll(3) > 0).map((path) => path.replace(/\.mdx?$/, ''));
    return JSON.stringify(config);
  };
  const config = JSON.parse(String(files['docs.json'])) as Record<string, unknown>;
  switch (roll(13)) {
    case 0:
      files[`pages/p${round}.mdx`] =
        `---\ntitle: "P${round}"\n---\n\nimport A from '/${other}'\n\n[x](/${some}) {{product}}\n`;
      break;
    case 1:
      if (names.length > 4) delete files[some];
      break;
    case 2:
      files[`moved/m${round}.md`] = files[some] ?? '';
      if (names.length > 4) delete files[some];
      break;
    case 3:
      files['docs.json'] = pages(String(files['docs.json']));
      break;
    case 4:
      files[`snippets/s${roll(3)}.mdx`] = `Snippet of round ${round}. [y](./s${roll(3)}) ![z](/pictures/a.png)\n`;
      break;
    case 5:
      files[some] =
        `import S from '/snippets/s${roll(3)}.mdx'\n\n# Heading ${round}\n\n<Snippet file="s${roll(3)}.mdx" />\n`;
      break;
    case 6:
      config['variables'] = roll(2) === 0 ? { product: `Name ${round}` } : undefined;
      files['docs.json'] = JSON.stringify(config);
      break;
    case 7:
      files['api/openapi.json'] = testDescription(['users', `round${round}`].slice(roll(2)));
      break;
    case 8:
      files['pictures/a.png'] = picture(round + 1);
      break;
    case 9:
      files[some] = `---\ntitle: [broken\ngroups: ${'x'.repeat(roll(5))}\n---\n\nText ${round} {{product}}\n`;
      break;
    case 10:
      config['api'] = roll(2) === 0 ? { openapi: 'api/openapi.json' } : undefined;
      config['redirects'] = [{ source: `/old${roll(4)}`, destination: '/index' }];
      files['docs.json'] = JSON.stringify(config);
      break;
    case 11:
      files['.mintignore'] = roll(2) === 0 ? 'pages/*\n' : '';
      break;
    default:
      files[some] = `---\nopenapi: GET /users\n---\n`;
  }
  return files;
}

/** A small project with most kinds of files that changes affect. */
export const firstProject: Contents = {
  'docs.json': JSON.stringify({
    theme: 'mint',
    name: 'Acme',
    colors: { primary: '#112233' },
    navigation: { pages: ['index', 'guides/a'] },
  }),
  'index.mdx': '# Hello\n\n[a](/guides/a)\n',
  'guides/a.mdx': "import S from '/snippets/s0.mdx'\n\n<S />\n",
  'guides/b.md': 'Text\n',
  'snippets/s0.mdx': 'Snippet\n',
  'pictures/a.png': picture(5),
  'api/openapi.json': testDescription(['users']),
};
