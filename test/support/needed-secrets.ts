import type { ServiceName } from '#infra/supervisor/services.ts';

const needed: Readonly<Record<ServiceName, readonly string[]>> = {
  projector: ['BINDERY_AUDIT_KEY', 'BINDERY_TOKEN_GATEWAY_TO_PROJECTOR'],
  publisher: ['BINDERY_TOKEN_GATEWAY_TO_PUBLISHER', 'BINDERY_TOKEN_HOUSEKEEPER_TO_PUBLISHER'],
  indexer: [],
  orchestrator: ['BINDERY_TOKEN_GATEWAY_TO_ORCHESTRATOR'],
  'page-renderer': [],
  bundler: [],
  'link-signer': ['BINDERY_LINK_SIGNING_KEY', 'BINDERY_TOKEN_GATEWAY_TO_LINK_SIGNER'],
  assistant: ['BINDERY_HASH_KEY', 'BINDERY_TOKEN_GATEWAY_TO_ASSISTANT'],
  deployer: [],
  housekeeper: ['BINDERY_TOKEN_GATEWAY_TO_HOUSEKEEPER', 'BINDERY_TOKEN_HOUSEKEEPER_TO_PUBLISHER'],
  gateway: [
    'BINDERY_HASH_KEY',
    'BINDERY_LINK_SIGNING_KEY',
    'BINDERY_OPERATOR_TOKEN',
    'BINDERY_PERSON_TOKEN_KEY',
    'BINDERY_SITES_KEYS',
    'BINDERY_TOKEN_GATEWAY_TO_ASSISTANT',
    'BINDERY_TOKEN_GATEWAY_TO_HOUSEKEEPER',
    'BINDERY_TOKEN_GATEWAY_TO_LINK_SIGNER',
    'BINDERY_TOKEN_GATEWAY_TO_ORCHESTRATOR',
    'BINDERY_TOKEN_GATEWAY_TO_PROJECTOR',
    'BINDERY_TOKEN_GATEWAY_TO_PUBLISHER',
  ],
};

/** The variable that holds the password of the service's own user of the bus. */
export const passwordVariable = (service: ServiceName): string =>
  `BINDERY_NATS_PASSWORD_${service.toUpperCase().replace('-', '_')}`;

/** The variables of a service of an installation that hold secrets, in order. */
export const secretVariables = (service: ServiceName): string[] =>
  [passwordVariable(service), ...needed[service]].toSorted();
