import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { afterAnswers } from './after-answers.ts';

/**
 * Metrics of one service, in Prometheus' text format. Each label has few values, all from our code: never an id, a name or a path that a
 * client chose, because each combination stays in memory and in Prometheus permanently.
 */
export type Metrics = {
  /** A number that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void;
  /** A number for each value of `label`, read at each scrape. Values that `read` leaves out are omitted; if it rejects, all are. */
  gauges(name: string, help: string, label: string, read: () => Readings | Promise<Readings>): void;
  /** A number that only grows and is counted elsewhere, read at each scrape; one for each value of `label`. */
  total(name: string, help: string, label: string, read: () => Readings): void;
  /** Counts events by one label. `values`: all values of the label; their counts begin with 0. */
  counter<V extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly V[],
  ): (value: V, by?: number) => void;
  /** Measures values in the unit of `buckets`. */
  histogram(name: string, help: string, buckets: readonly number[]): (value: number) => void;
  /**
   * Measures all requests to a server: their number, duration and status, and the number in flight. Must be called before its routes are
   * added.
   */
  observeRequests(app: FastifyInstance): void;
  /** All metrics of the service and of the process, as text. */
  text(): Promise<string>;
  contentType: string;
};

/** Numbers by the value of a label. */
type Readings = Readonly<Record<string, number>>;

/** Bucket limits in seconds. Reads take milliseconds, streamed answers and publications up to minutes. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Routes that programs request every few seconds, which would dominate the metrics. */
const probes = new Set(['/livez', '/readyz', '/metrics']);

/** Registry of the process's own metrics, which several services in one process share. */
let ofProcess: Registry | undefined;

function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

/** The metrics of one service, each with the label `service`. */
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
      help: 'Requests in flight.',
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
  // A lookup of a histogram by its labels takes longer than an observation.
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
            // One number that cannot be read must not hide the others.
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

/**
 * The route as declared, such as `/v1/static-export/jobs/:jobId`. Requests that match no route share one label, because clients choose
 * their paths and methods.
 */
function labelsOf({ routeOptions, method }: FastifyRequest): { method: string; route: string } {
  const { url } = routeOptions;
  return url === undefined ? { method: 'other', route: 'none' } : { method, route: url };
}

/** Adds `/metrics`. It contains no secrets, but shows the load of an installation, so it must not be added to servers that clients reach. */
export function addMetricsRoute(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', { logLevel: 'silent' }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.text()),
  );
}
