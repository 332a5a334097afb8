export type ServerName =
  | 'nats-server'
  | 'redis-server'
  | 'versitygw'
  | 'elasticsearch'
  | 'helm'
  | 'chromium'
  | 'bsdtar'
  | 'busybox'
  | 'jq'
  | 'python3'
  | 'sdk-versions';

export const pinnedVersions: Readonly<
  Record<'natsServerRelease' | 'natsServerWheel' | 'natsServerModule' | 'versitygw' | 'elasticsearch' | 'helm', string>
>;
export const oldestNatsServer: readonly [number, number];
export function cacheFolder(): string;
export function cachedFolder(name: string, version: string): string;
export function findServer(name: ServerName): string | undefined;
export function natsServerVersion(program: string): [number, number] | undefined;
export function findJdk(oldest: number): string | undefined;
export function onPath(...names: string[]): string[];
export const oldestJdkForElasticsearch: number;
export function elasticsearchFolder(): string;
export const sdkVersionsSource: string;
export function sdkVersionsFolder(): string;
export function hasElasticsearch(): boolean;
