/** The body of a report to central by the box of a home that went back from a release: of a box that has recorded nothing and is well otherwise. */
export function wentBackReport(home: number, { version, sha256 }: { version: string; sha256: string }) {
  const now_ms = Date.now();
  const refusal = { version, sha256, reason: "went_back", message: "it is deaf", at_ms: now_ms, times: 1 };
  const nothing = { devices: [], listeners: [], states: [], outages: [], silences: [], gaps: [] };
  return {
    epochs: [{ epoch: home.toString(16).padStart(32, "0"), first_seq: 1, last_seq: 0 }],
    condition: { ...nothing, after_note: 0, to_note: 0 },
    report: {
      ...{ version: "1.0.0", now_ms, clock_synchronised: true, timezone: "UTC", last_seq: 0, waiting: 0 },
      ...{ disk_free_bytes: 20e9, bytes_on_disk: 1e6, dropped: {}, differing_days: 0 },
      update: { ring: 50, refusals: [refusal] },
    },
  };
}
