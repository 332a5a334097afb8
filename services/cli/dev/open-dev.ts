import { requireProject } from '../folder-project.ts';
import { devServer, type DevServer } from './dev-server.ts';
import { type ChangeDone, type DevSite, devSite } from './dev-site.ts';
import { devTabs } from './dev-tabs.ts';
import type { LocalAssistant } from './local-assistant.ts';
import { watchFolder } from './watch-folder.ts';

export type OpenDevOptions = {
  port: number;
  host?: string | undefined;
  pollMs?: number;
  /** Answers the questions of readers. It is closed with the rest. */
  assistant?: LocalAssistant | undefined;
  /** Files that are not in the folder, by path. */
  extra?: ReadonlyMap<string, Uint8Array>;
  onChange?: (done: ChangeDone) => void;
  onError: (error: unknown) => void;
  onLost?: (reason: string) => void;
};

export type OpenDev = { site: DevSite; server: DevServer; close(): Promise<void> };

/** Serves the site of a project folder and follows its changes. Throws as `projectFilesIn` and `devServer`. */
export async function openDev(folder: string, options: OpenDevOptions): Promise<OpenDev> {
  const { pollMs, extra, assistant, onChange, onError, onLost = () => undefined } = options;
  const tabs = devTabs();
  let site: DevSite | undefined;
  /** Names of files that changed while the project is read for the first time; undefined in it for any file. */
  const early: (readonly string[] | undefined)[] = [];
  const change = (paths: readonly string[] | undefined): void => {
    if (site === undefined) {
      early.push(paths);
      return;
    }
    const follow = async (to: DevSite): Promise<void> => {
      const done = await to.change(paths);
      if (done === undefined) return;
      assistant?.changed();
      onChange?.(done);
    };
    follow(site).catch(onError);
  };
  await requireProject(folder);
  const watch = await watchFolder(folder, { pollMs, onLost, onChange: change });
  try {
    const made = (site = await devSite(folder, tabs.all, { extra, onRefused: (why) => onError(new Error(why)) }));
    const server = await devServer(made, tabs, options);
    for (const paths of early.splice(0)) change(paths);
    return {
      site: made,
      server,
      async close() {
        await watch.close();
        await server.close();
        await Promise.all([made.close(), assistant?.close()]);
      },
    };
  } catch (error) {
    await Promise.all([watch.close(), site?.close(), assistant?.close()]);
    throw error;
  }
}
