import { languageModelSettings, openLanguageModel } from '#services/assistant/language-model.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { SearchPage } from '#shared/search/search-index.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { type MistralServer, startMistral } from '../support/start-mistral.ts';
import { assistantBehind } from './assistant-harness.ts';

export const mistralKey = 'the-key-of-mistral-in-tests';

export type MistralGateway = {
  gateway: GatewayHarness;
  acme: TestOrganization;
  mistral: MistralServer;
  /** Sends a body to the assistant over HTTP. */
  post(body: object, options?: { version?: 1 | 2; signal?: AbortSignal }): Promise<Response>;
  close(): Promise<void>;
};

/** A gateway that calls an assistant, which uses a server with Mistral's protocol. */
export async function startMistralGateway(morePages: SearchPage[] = []): Promise<MistralGateway> {
  const mistral = await startMistral();
  const model = await openLanguageModel(
    loadConfig(languageModelSettings, {
      BINDERY_LANGUAGE_MODEL: 'mistral',
      BINDERY_MISTRAL_API_KEY: mistralKey,
      BINDERY_MISTRAL_BASE_URL: mistral.baseUrl,
    }),
  );
  const gateway = await gatewayHarness({}, assistantBehind(model, { morePages }));
  const acme = await createOrganization(gateway);
  const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  return {
    gateway,
    acme,
    mistral,
    post: (body, { version = 2, signal } = {}) =>
      fetch(`${url}/discovery/v${version}/assistant/docs/message`, {
        method: 'POST',
        headers: { ...bearer(acme.assistantKey), 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    close: async () => {
      await gateway.close();
      await mistral.close();
    },
  };
}
