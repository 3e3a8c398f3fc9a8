import { counter, type Family, gauge } from "./openmetrics.ts";

/** Metrics of the program itself, the same for both roles. */
export function programFamilies(program: {
  readonly role: "gateway" | "central";
  readonly version: string;
  readonly memory_bytes: number;
  readonly started_ms: number;
  /** Connections closed since the start because there were too many at once. */
  readonly connections_closed: number;
  /** Requests refused since the start because too much was under way. */
  readonly requests_refused: number;
}): Family[] {
  return [
    {
      name: "lintel_build",
      type: "info",
      help: "What runs here",
      labels: { version: program.version, role: program.role },
    },
    gauge("lintel_start_time", "When it was started, unix time", program.started_ms / 1000, "seconds"),
    gauge("lintel_memory_resident", "Memory that the process has", program.memory_bytes, "bytes"),
    counter(
      "lintel_connections_closed",
      "Connections closed because there were too many at once",
      program.connections_closed,
    ),
    counter(
      "lintel_requests_refused",
      "Requests refused because too much was under way",
      program.requests_refused,
    ),
  ];
}
