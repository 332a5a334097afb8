import { z } from 'zod';
import type { languageModelSettings } from '#services/assistant/language-model.ts';
import { type embedderSettings, hasEmbedder } from '#shared/embedding/open-embedder.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { readinessSchema } from '#shared/runtime/health-routes.ts';
import type { searchSettings } from '#shared/search/open-search-index.ts';
import { clockFinding, fault, type Finding, good, warning } from '#shared/runtime/finding.ts';
import { addressOf } from '../api-client.ts';

const answerWithinMs = 5_000;

/** The health that the gateway at this address reports, for itself and its dependencies. */
export async function inspectGateway(address: string): Promise<Finding[]> {
  if (!URL.canParse(address) || new URL(address).username !== '') {
    return [
      fault(
        'The address of the gateway is not valid.',
        'Name it as http://<host>:<port> or https://…, without user and password, with --url or BINDERY_URL.',
      ),
    ];
  }
  let answer: Response;
  try {
    answer = await fetch(addressOf(address, '/readyz'), { signal: AbortSignal.timeout(answerWithinMs) });
  } catch (error) {
    return [
      fault(
        `No gateway answers at ${address}: ${connectionProblem(error)}.`,
        'Start it, or name its address with --url or BINDERY_URL.',
      ),
    ];
  }
  const readiness = readinessSchema.safeParse(await answer.json().catch(() => undefined));
  if (!readiness.success) {
    return [
      fault(
        `${address} answers /readyz with ${answer.status}, and the answer is not from Bindery.`,
        'Name the address of a gateway with --url.',
      ),
    ];
  }
  const { ready, missing, degraded, setAside } = readiness.data;
  const findings: Finding[] = ready ? [good(`The gateway at ${address} is ready.`)] : [];
  for (const [name, why] of Object.entries(missing))
    findings.push(
      fault(`The gateway at ${address} reports a problem with ${name}: ${why}`, `See the findings about ${name} here.`),
    );
  for (const [name, why] of Object.entries(degraded))
    findings.push(warning(`The gateway at ${address}: ${why}`, `See the findings about ${name} here.`));
  if (setAside > 0)
    findings.push(
      warning(
        `${setAside} messages are set aside.`,
        '"bindery dead list" shows each with its reason; settle it with "bindery dead retry" or "bindery dead drop".',
      ),
    );
  const told = Date.parse(answer.headers.get('date') ?? '');
  const clock = Number.isNaN(told) ? undefined : clockFinding("The gateway's clock", told - Date.now());
  return clock === undefined ? findings : [...findings, clock];
}

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Checks that the language model can be reached, accepts the key and exists, without sending it text. */
export async function inspectLanguageModel(config: ConfigOf<typeof languageModelSettings>): Promise<Finding[]> {
  const { languageModel, mistralApiKey: key, mistralBaseUrl: base, mistralModel: name } = config;
  if (languageModel === 'extractive') return [good('No model is set: answers quote the best passages.')];
  if (languageModel === 'openai-compatible') {
    const { openaiBaseUrl, openaiModel } = config;
    if (openaiBaseUrl === undefined) return [fault('BINDERY_OPENAI_BASE_URL is not set.', 'Set it for the assistant.')];
    if (openaiModel === undefined) return [fault('BINDERY_OPENAI_MODEL is not set.', 'Set it for the assistant.')];
    return inspectModel({
      ...{ base: openaiBaseUrl, key: config.openaiApiKey, name: openaiModel, usedBy: 'the assistant' },
      variables: { name: 'BINDERY_OPENAI_MODEL', key: 'BINDERY_OPENAI_API_KEY', base: 'BINDERY_OPENAI_BASE_URL' },
    });
  }
  if (key === undefined) return [fault('BINDERY_MISTRAL_API_KEY is not set.', 'Set it for the assistant.')];
  const variables = { ...mistralVariables, name: 'BINDERY_MISTRAL_MODEL' };
  return inspectModel({ base, key, name, variables, usedBy: 'the assistant' });
}

/** Checks the embedding model in the same way, if there is one. */
export async function inspectEmbedder(
  config: ConfigOf<typeof embedderSettings> & Pick<ConfigOf<typeof searchSettings>, 'searchEngine'>,
): Promise<Finding[]> {
  const { mistralApiKey: key, mistralBaseUrl: base, embeddingModel: name, searchEngine } = config;
  if (!hasEmbedder(config)) return [good('There are no vectors: passages are searched by words.')];
  if (searchEngine === 'opensearch') return [good('OpenSearch keeps no vectors: passages are searched by words.')];
  const usedBy = 'indexer and assistant';
  if (config.embeddingBaseUrl === undefined) {
    const variables = { ...mistralVariables, name: 'BINDERY_EMBEDDING_MODEL' };
    return inspectModel({ base, key, name, variables, usedBy });
  }
  return inspectModel({
    ...{ base: config.embeddingBaseUrl, key: config.embeddingApiKey, name, usedBy },
    variables: {
      ...{ name: 'BINDERY_EMBEDDING_MODEL', key: 'BINDERY_EMBEDDING_API_KEY', base: 'BINDERY_EMBEDDING_BASE_URL' },
    },
  });
}

type ModelToInspect = {
  base: string;
  key: string | undefined;
  name: string;
  /** The settings to name in findings. */
  variables: { name: string; key: string; base: string };
  usedBy: string;
};

const mistralVariables = { key: 'BINDERY_MISTRAL_API_KEY', base: 'BINDERY_MISTRAL_BASE_URL' };

async function inspectModel({ base, key, name, variables, usedBy }: ModelToInspect): Promise<Finding[]> {
  let answer: Response;
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    answer = await fetch(`${base.replace(/\/+$/, '')}/models`, {
      headers,
      signal: AbortSignal.timeout(answerWithinMs),
    });
  } catch (error) {
    return [
      fault(
        `No model answers at ${base}: ${connectionProblem(error)}.`,
        `Let ${usedBy} reach it, or set ${variables.base}.`,
      ),
    ];
  }
  if (answer.status === 401 || answer.status === 403) {
    return [fault(`${base} does not accept the key (${answer.status}).`, `Set ${variables.key} to one that is valid.`)];
  }
  const models = modelsSchema.safeParse(await answer.json().catch(() => undefined));
  if (!answer.ok || !models.success) {
    return [
      warning(
        `${base} does not list its models (${answer.status}), so it is not known if "${name}" exists.`,
        'Ask a question to try it.',
      ),
    ];
  }
  const ids = models.data.data.map(({ id }) => id);
  return ids.includes(name)
    ? [good(`The model "${name}" is at ${base}.`)]
    : [
        fault(
          `There is no model "${name}" at ${base}.`,
          `Set ${variables.name} to one of: ${ids.slice(0, 20).join(', ')}.`,
        ),
      ];
}

/** Checks that the collector of the OpenTelemetry settings accepts spans, by sending it an empty list. */
export async function inspectCollector(environment: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = environment;
  const address = own || (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (!address) return [good('No collector of traces is set (OTEL_EXPORTER_OTLP_ENDPOINT).')];
  const protocol = environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || environment.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol === 'grpc') return [good(`Traces go to ${base ?? address} over gRPC, which is not tested here.`)];
  const advice = 'Start it, or set OTEL_EXPORTER_OTLP_ENDPOINT to its address for OTLP over HTTP, mostly port 4318.';
  try {
    const answer = await fetch(address, {
      method: 'POST',
      // An empty body is an empty protobuf message.
      body: new Uint8Array(),
      headers: { ...headersIn(environment.OTEL_EXPORTER_OTLP_HEADERS), 'content-type': 'application/x-protobuf' },
      signal: AbortSignal.timeout(answerWithinMs),
    });
    if (answer.ok) return [good(`The collector at ${address} accepts spans.`)];
    const needs =
      answer.status === 401 || answer.status === 403
        ? 'Set OTEL_EXPORTER_OTLP_HEADERS to the headers that it requires.'
        : advice;
    return [warning(`The collector at ${address} does not accept spans (${answer.status}): traces are lost.`, needs)];
  } catch (error) {
    return [warning(`No collector answers at ${address}: ${connectionProblem(error)}. Traces are lost.`, advice)];
  }
}

/** `name=value` pairs, comma-separated and percent-encoded, as OpenTelemetry defines them. */
const headersIn = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
    }),
  );
