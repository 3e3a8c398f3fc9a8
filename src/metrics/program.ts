import { type Family, gauge } from "./openmetrics.ts";

/** Metrics of the program itself, the same for both roles. */
export function programFamilies(program: {
  readonly role: "gateway" | "central";
  readonly version: string;
  readonly memory_bytes: number;
  readonly started_ms: number;
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
  ];
}
