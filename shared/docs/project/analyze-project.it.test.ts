import { afterAll, expect, it } from 'vitest';
import { analyzeProject, projectPool } from './analyze-project.ts';
import { memoryProject } from '../../../test/support/memory-project.ts';
import { readDocsProject } from './read-docs-project.ts';

const pool = projectPool({ slots: 1 });
afterAll(() => pool.close());

const project = memoryProject({
  'docs.json': JSON.stringify({
    theme: 'mint',
    name: 'Acme',
    colors: { primary: '#112233' },
    navigation: { pages: ['a', 'gone'] },
  }),
  'a.mdx': "import N from '/snippets/n.mdx'\n\n# Hi é\n",
  'snippets/n.mdx': 'x',
});

it('reads a project in a child with the same result as in this process', async () => {
  const { project: read } = await analyzeProject(pool, project, { organization: 'acme' });
  expect(read).toEqual(await readDocsProject(project));
});

it('asks for files in batches, and reports a single file that cannot be read', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `page-${at}`);
  const large = memoryProject({
    'docs.json': JSON.stringify({
      name: 'Acme',
      theme: 'mint',
      colors: { primary: '#112233' },
      navigation: { pages: names },
    }),
    ...Object.fromEntries(names.map((name) => [`${name}.mdx`, `# ${name}\n`])),
  });
  const broken: typeof large = {
    files: large.files,
    read: (path, maxBytes) =>
      path === 'page-7.mdx' ? Promise.reject(new Error('the disk is broken')) : large.read(path, maxBytes),
  };
  const { project: read } = await analyzeProject(pool, broken, { organization: 'acme' });
  expect(read.pages).toHaveLength(39);
  expect(read.diagnostics).toContainEqual(
    expect.objectContaining({ code: 'file-not-read', file: 'page-7.mdx', message: expect.stringContaining('broken') }),
  );
});

it('passes on the reason why the files are not a project', async () => {
  const nothing = memoryProject({ 'a.mdx': 'x' });
  await expect(analyzeProject(pool, nothing, { organization: 'acme' })).rejects.toMatchObject({
    name: 'InvalidProject',
    code: 'missing-config',
  });
});

it('is an invalid project when it takes too long', async () => {
  const endless = { files: project.files, read: () => new Promise<Uint8Array>(() => undefined) };
  await expect(analyzeProject(pool, endless, { organization: 'acme', deadlineMs: 100 })).rejects.toMatchObject({
    name: 'InvalidProject',
    code: 'project-not-read',
    message: expect.stringContaining('100 ms'),
  });
});
