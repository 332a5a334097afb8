export type Stoppable = { stop(): Promise<unknown> };

/** What a measurement is given. */
export type Bench = {
  /** How often each thing is measured; the median is printed. */
  runs: number;
  print(text: string): void;
  /** What is measured now, for whoever watches; no part of the outcome. */
  progress(text: string): void;
  /** Works with something that has to be stopped, and stops it: after the work, after a failure, and on Ctrl-C also while it starts. */
  using<T extends Stoppable, R>(starting: Promise<T>, work: (started: T) => Promise<R>): Promise<R>;
};

/** One measurement, by the name that the command takes. */
export type Measurement = { name: string; about: string; run(bench: Bench): Promise<void> };
