import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { devFiles } from './dev/dev-files.ts';
import { folderProject, projectFilesIn } from './folder-project.ts';

let top = '';
let project = '';
beforeEach(async () => {
  top = newFolder();
  project = join(top, 'repository/docs');
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'docs.json'), '{}');
  await writeFile(join(top, 'secret.txt'), 'mine');
  await writeFile(join(top, 'repository/README.md'), '# Read me');
});

test('a link to a file of the project or of its repository counts as the file', async () => {
  await mkdir(join(top, 'repository/.git'));
  await symlink('../README.md', join(project, 'readme.md'));
  await symlink('docs.json', join(project, 'again.json'));
  expect(await projectFilesIn(project)).toEqual(['again.json', 'docs.json', 'readme.md']);
});

test.each([
  ['a file outside', '../../secret.txt'],
  ['a file of the repository that is never packed', '../.git/config'],
  ['a file beside a project without a repository', '../README.md'],
])('a link to %s would publish it, so it is refused by name', async (what, target) => {
  if (!what.includes('without')) await mkdir(join(top, 'repository/.git'));
  if (target.includes('.git/')) await writeFile(join(top, 'repository/.git/config'), 'password');
  await symlink(target, join(project, 'page.md'));
  await expect(projectFilesIn(project)).rejects.toThrow(
    /page\.md is a symbolic link to .*, which is not a file of this/,
  );
});

test('a file that no site has because of its size is listed without being read', async () => {
  const film = join(project, 'film.mp4');
  await writeFile(film, '');
  const sizeBytes = 3 * 1024 ** 3;
  await truncate(film, sizeBytes);
  const { files } = await folderProject(project);
  expect(files.find(({ path }) => path === 'film.mp4')).toMatchObject({ sizeBytes });
  const watched = await devFiles(project);
  expect(watched.files.find(({ path }) => path === 'film.mp4')).toMatchObject({ sizeBytes });
  await truncate(film, sizeBytes + 1);
  expect((await watched.look(['film.mp4'])).changed).toMatchObject([{ path: 'film.mp4', sizeBytes: sizeBytes + 1 }]);
});
