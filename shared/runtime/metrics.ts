import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { afterAnswers } from './after-answers.ts';

/**
 * What one service counts and measures, in Prometheus' text format. Each label has few values, all from our code: never an id, a name or a path
 * that a client chose, because each combination stays in memory and in Prometheus for good.
 */
export type Metrics = {
  /** A number that is read whenever somebody asks. */
  gauge(name: string, help: string, read: () => number): void;
  /** Such a number for each value of `label`. Those that `read` leaves out are not there, and none is when it rejects. */
  gauges(name: string, help: string, label: string, read: () => Readings | Promise<Readings>): void;
  /** A number that only grows, kept by somebody else and read whenever somebody asks; one for each value of `label`. */
  total(name: string, help: string, label: string, read: () => Readings): void;
  /** Counts what happens, by one label. `values`: all that the label can be; they begin with 0. */
  counter<V extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly V[],
  ): (value: V, by?: number) => void;
  /** Measures something again and again, in the unit of `buckets`. */
  histogram(name: string, help: string, buckets: readonly number[]): (value: number) => void;
  /** Measures all requests to a server: how many, how long, with which status, and how many are being answered. Before its routes are added. */
  observeRequests(app: FastifyInstance): void;
  /** All metrics, and those of the process. */
  text(): Promise<string>;
  contentType: string;
};

/** By the value of a label. */
type Readings = Readonly<Record<string, number>>;

/** In seconds. Reads take milliseconds, streamed answers and publications up to minutes. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Asked every few seconds by programs, which would hide everybody else. */
const probes = new Set(['/livez', '/readyz', '/metrics']);

/** Of a process, which several services may share. */
let ofProcess: Registry | undefined;

function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

export function serviceMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  const registers: Registry[] = [];
  const add = <M extends Metric>(metric: M): M => {
    registry.registerMetric(metric);
    return metric;
  };
  const inFlight = new Set<FastifyRequest>();
  add(
    new Gauge({
      name: 'bindery_http_requests_in_flight',
      help: 'Requests that are being answered.',
      registers,
      collect() {
        this.set(inFlight.size);
      },
    }),
  );
  const durations = add(
    new Histogram({
      name: 'bindery_http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its answer. status="aborted": the answer was cut off.',
      registers,
      labelNames: ['method', 'route', 'status'],
      buckets: durationBuckets,
    }),
  );
  // Looking a histogram up by its labels takes longer than to add to it.
  const known = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>();
  const measure = (request: FastifyRequest, reply: FastifyReply): void => {
    const { method, route } = labelsOf(request);
    const status = reply.raw.writableEnded ? String(reply.statusCode) : 'aborted';
    const id = `${method} ${route} ${status}`;
    let histogram = known.get(id);
    if (histogram === undefined) {
      histogram = durations.labels({ method, route, status });
      known.set(id, histogram);
    }
    histogram.observe(reply.elapsedTime / 1_000);
  };

  return {
    gauge(name, help, read) {
      add(
        new Gauge({
          name,
          help,
          registers,
          collect() {
            this.set(read());
          },
        }),
      );
    },

    gauges(name, help, label, read) {
      add(
        new Gauge({
          name,
          help,
          registers,
          labelNames: [label],
          async collect() {
            // One number that cannot be had must not take the others with it.
            const readings = await Promise.resolve()
              .then(read)
              .catch(() => ({}));
            this.reset();
            for (const [value, reading] of Object.entries(readings)) this.set({ [label]: value }, reading);
          },
        }),
      );
    },

    total(name, help, label, read) {
      add(
        new Counter({
          name,
          help,
          registers,
          labelNames: [label],
          collect() {
            this.reset();
            for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count);
          },
        }),
      );
    },

    counter(name, help, label, values) {
      const counter = add(new Counter({ name, help, registers, labelNames: [label] }));
      for (const value of values) counter.inc({ [label]: value }, 0);
      return (value, by = 1) => counter.inc({ [label]: value }, by);
    },

    histogram(name, help, buckets) {
      const histogram = add(new Histogram({ name, help, registers, buckets: [...buckets] }));
      return (value) => histogram.observe(value);
    },

    observeRequests(app) {
      app.addHook('onRequest', (request, _reply, done) => {
        inFlight.add(request);
        done();
      });
      afterAnswers(app, (request, reply) => {
        inFlight.delete(request);
        if (!probes.has(request.routeOptions.url ?? '')) measure(request, reply);
      });
    },

    async text() {
      return `${await registry.metrics()}\n${await processMetrics().metrics()}`;
    },
    contentType: registry.contentType,
  };
}

/** The route as it is declared, such as `/v1/static-export/jobs/:jobId`. What no route matches may be called anything, by any method. */
function labelsOf({ routeOptions, method }: FastifyRequest): { method: string; route: string } {
  const { url } = routeOptions;
  return url === undefined ? { method: 'other', route: 'none' } : { method, route: url };
}

/** Adds `/metrics`. Nothing in it is secret, but it says how busy an installation is: not for servers that clients reach. */
export function addMetricsRoute(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', { logLevel: 'silent' }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.text()),
  );
}
