import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { onLoopback } from './on-loopback.ts';

export type CollectedSpan = {
  name: string;
  service: string;
  traceId: string;
  spanId: string;
  /** Id of the parent; empty for the first span of a trace. */
  parentSpanId: string;
  /** Time in nanoseconds since 1970. */
  startNanos: bigint;
  endNanos: bigint;
  attributes: Readonly<Record<string, string | number>>;
  isFailed: boolean;
};

type Value = { stringValue?: string; intValue?: string | number; doubleValue?: number };
type Attribute = { key: string; value: Value };
/** The fields of https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding that are read here. */
type TracesData = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: Attribute[];
        status: { code?: number };
      }[];
    }[];
  }[];
};

const failed = 2;

/** Receives spans over OTLP in JSON, and keeps them. `environment`: variables with which services send their spans to it. */
export async function startTraceCollector(): Promise<{
  environment: Record<string, string>;
  spans: CollectedSpan[];
  /** The bodies of all requests. */
  received: string[];
  stop(): Promise<void>;
}> {
  const spans: CollectedSpan[] = [];
  const received: string[] = [];
  const server = createServer((request, response) => {
    const receive = async () => {
      const body = await text(request);
      received.push(body);
      spans.push(...spansIn(JSON.parse(body) as TracesData));
      response.setHeader('content-type', 'application/json').end('{}');
    };
    void receive();
  });
  const { url, close } = await onLoopback(server);
  return {
    spans,
    received,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    stop: close,
  };
}

function spansIn({ resourceSpans }: TracesData): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...{ service, name: span.name, traceId: span.traceId, spanId: span.spanId },
        parentSpanId: span.parentSpanId ?? '',
        startNanos: BigInt(span.startTimeUnixNano),
        endNanos: BigInt(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes),
        isFailed: span.status.code === failed,
      })),
    );
  });
}

const valuesOf = (attributes: readonly Attribute[]): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]),
  );
