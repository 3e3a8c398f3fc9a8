/**
 * The sources that each recorded table speaks for, by its key. A table is older than its sources where a commit since has changed one of them. Its own program, and what
 * programs share, are not named here: a change of these alone makes no figure wrong.
 */
const store = ["src/store/series", "src/store/sqlite"];
const gateway = ["src/gateway", "src/store/gateway", ...store, "drivers"];
const upload = ["src/transfer", "src/store/central", "src/store/series", "src/store/sqlite"];
const pages = ["src/web/api", "src/web/server", ...store];

export const sourcesOf: Readonly<Record<string, readonly string[]>> = {
  "bench api": pages,
  "bench blocks": [...store, "src/store/postgres", "src/store/central"],
  "bench central": [...upload, "src/store/postgres", "src/central", "src/web/api"],
  "bench fetch": ["src/export", "src/web/api", "src/store/inventory", "src/web/client"],
  "bench ingest": gateway,
  "bench latency": [...gateway, "src/web/api"],
  "bench memory": [...gateway, "scripts/launch.sh"],
  "bench pages": ["src/web/pages", "src/web/server", ...store],
  "bench peers databases": [...upload, "src/store/postgres", "src/central"],
  "bench peers gateways": [...gateway, "src/web/api", "scripts/launch.sh"],
  "bench peers pages": [...pages, "scripts/launch.sh"],
  "bench reads": [...pages, "src/gateway", "src/transfer"],
  "bench restart": ["src/cli/run.ts", ...gateway],
  "bench stream": [...gateway, "src/web/api", "src/web/server"],
  "trials alerts": ["src/central/alerts", "src/central/fleet", "src/domain/fleet-home.ts", "src/config"],
  "trials certificates": [
    "src/central/next-certificate.ts",
    "src/gateway/uploader",
    "src/web/server/self-signed.ts",
  ],
  "trials boot": ["systemd", "packaging", "scripts/packaging", "src/cli", "src/gateway"],
  "trials burn-in": ["src/cli/burn-in", "src/cli/burn-in.ts"],
  "trials crashes": ["src/store", "src/cli/backup", "src/cli/restore", "src/transfer"],
  "trials damage": ["src/store/sqlite", "src/gateway", "src/transfer"],
  "trials faults": ["src/store", "src/gateway", "src/central", "src/cli", "src/transfer", "src/base/disk"],
  "trials fuzz converters": ["drivers/zigbee"],
  "trials fuzz frames": ["drivers"],
  "trials homes calls": ["src/web/api", "src/store", "src/central"],
  "trials hostile strangers": ["drivers/ble", "drivers/bthome", "src/gateway"],
  "trials hostile uploads": ["src/central", "src/transfer", "src/store/central", "src/web/server"],
  "trials kills broker": ["drivers/mqtt", "src/gateway", ...store],
  "trials kills gateway": [...gateway, ...upload, "src/central"],
  "trials kills restarts": gateway,
  "trials life --consent": ["src/store", "src/gateway", "src/transfer", "src/central", "src/cli/restore"],
  "trials life --planted": ["src/store", "src/gateway", "src/transfer", "src/central"],
  "trials life --seeds": ["src/store", "src/gateway", "src/transfer", "src/central"],
  "trials measures": ["src/domain/derived", "src/store/derived", "src/demo"],
  "trials mirror": ["src/export", "src/store/series", "src/store/inventory", "src/store/sqlite"],
  "trials requests paging": pages,
  "trials requests random": ["src/web", "src/store"],
  "trials update": ["src/gateway/update", "src/cli/update.ts"],
  "trials uploads line": [...upload, "src/gateway/uploader", "src/web/client"],
  "trials uploads month": [...upload, "src/gateway/uploader", "src/web/client"],
  "trials year": ["src/gateway", "src/base/clock.ts", ...store],
};
