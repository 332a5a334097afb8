import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { widgetFile } from '#shared/docs/render/site/widget-file.ts';

/** Writes `widget.js` and its types into the folder of the compiled package, for pages that serve the script themselves. `root`: the clone. */
export async function writeWidget(root: string, target: string): Promise<void> {
  const { text } = await widgetFile();
  await writeFile(join(target, 'widget.js'), text);
  const types = await readFile(join(root, 'shared/docs/render/site/widget-types.ts'), 'utf8');
  // The types of elements are those of the browser.
  const [own = ''] = types.split('\ndeclare global');
  await writeFile(
    join(target, 'widget.d.ts'),
    `${own}\ndeclare global {\n  interface Window {\n    BinderyWidget: BinderyWidget;\n  }\n}\n`,
  );
}
