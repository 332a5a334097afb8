/** A started service. `stop` lets what is in hand finish (at most a few seconds), gives leases back and ends connections. */
export type Running = {
  name: string;
  /** Base address of its HTTP server. */
  url: string;
  stop(): Promise<void>;
};
