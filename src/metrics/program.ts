import type { Family } from "./openmetrics.ts";

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
    {
      name: "lintel_start_time",
      unit: "seconds",
      type: "gauge",
      help: "When it was started, unix time",
      values: [{ value: program.started_ms / 1000 }],
    },
    {
      name: "lintel_memory_resident",
      unit: "bytes",
      type: "gauge",
      help: "Memory that the process has",
      values: [{ value: program.memory_bytes }],
    },
  ];
}
