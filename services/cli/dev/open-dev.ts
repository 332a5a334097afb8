import { devServer, type DevServer } from './dev-server.ts';
import { type ChangeDone, type DevSite, devSite } from './dev-site.ts';
import { devTabs } from './dev-tabs.ts';
import { watchFolder } from './watch-folder.ts';

export type OpenDevOptions = {
  port: number;
  host?: string | undefined;
  pollMs?: number;
  /** Files that are not in the folder, by path. */
  extra?: ReadonlyMap<string, Uint8Array>;
  onChange?: (done: ChangeDone) => void;
  onError: (error: unknown) => void;
  onLost?: (reason: string) => void;
};

export type OpenDev = { site: DevSite; server: DevServer; close(): Promise<void> };

/** Serves the site of a project folder and follows its changes. Throws as `projectFilesIn` and `devServer`. */
export async function openDev(folder: string, options: OpenDevOptions): Promise<OpenDev> {
  const { pollMs, extra, onChange, onError, onLost = () => undefined } = options;
  const tabs = devTabs();
  const site = await devSite(folder, tabs.all, extra);
  // Files that change while the project is read for the first time are found by the first look.
  const change = (paths: readonly string[] | undefined): void => {
    const follow = async (): Promise<void> => {
      const done = await site.change(paths);
      if (done !== undefined) onChange?.(done);
    };
    follow().catch(onError);
  };
  const watch = await watchFolder(folder, { pollMs, onLost, onChange: change });
  try {
    const server = await devServer(site, tabs, options);
    change(undefined);
    return {
      site,
      server,
      async close() {
        await watch.close();
        await server.close();
        await site.close();
      },
    };
  } catch (error) {
    await Promise.all([watch.close(), site.close()]);
    throw error;
  }
}
