/** Receives what happened, for traces and metrics. Never receives guest values. Must not throw; what it throws is dropped. */
export interface Telemetry {
  event(name: string, attributes: Readonly<Record<string, string | number | boolean>>): void
}
