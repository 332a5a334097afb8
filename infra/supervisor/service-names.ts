/** Every service of an installation, in the order in which they are started. */
export const serviceNames = [
  'projector',
  'publisher',
  'indexer',
  'orchestrator',
  'page-renderer',
  'bundler',
  'link-signer',
  'assistant',
  'housekeeper',
  'gateway',
] as const;

export type ServiceName = (typeof serviceNames)[number];

export function isServiceName(name: string): name is ServiceName {
  return serviceNames.some((known) => known === name);
}
