/** Faults of releases, as JavaScript that runs before the program of `lintel run` does. */
const whenRun = (script: string) => `if (process.argv.includes("run")) {\n${script}\n}`;

const whenUpdated = (script: string) => `if (process.argv.includes("update")) {\n${script}\n}`;

export const faults = {
  "breaks its updater": whenUpdated("process.exit(7);"),
  "has an updater that does nothing": whenUpdated("process.exit(0);"),
  "has an upload that does nothing": `if (process.argv.includes("upload") && process.argv.includes("--json")) {
    console.log('{"sent":0,"confirmed_seq":0,"differing_days":0}');
    process.exit(0);
  }`,
  "does not start": whenRun("process.exit(1);"),
  /** It drops what a stick says, from the first byte on. */
  deaf: whenRun(`
    const path = process.argv[process.argv.indexOf("--config") + 1];
    const { readFileSync, writeFileSync } = require("node:fs");
    const without = readFileSync(path, "utf8").replace(/\\[zigbee\\][^[]*/, "");
    const other = require("node:os").tmpdir() + "/deaf-" + process.pid + ".toml";
    writeFileSync(other, without);
    process.argv[process.argv.indexOf("--config") + 1] = other;`),
  "hangs once it serves": whenRun(`
    const { serve } = Bun;
    Bun.serve = (options) => { setTimeout(() => { for (;;); }, 200); return serve(options); };`),
  /** Every event in every answer is one more than it was. */
  "answers something else": whenRun(`
    const { serve } = Bun;
    const { brotliDecompressSync } = require("node:zlib");
    const expanders = { zstd: Bun.zstdDecompressSync, gzip: Bun.gunzipSync, br: brotliDecompressSync };
    const changed = async (response) => {
      if (!(response.headers.get("content-type") ?? "").includes("json")) return response;
      const bytes = new Uint8Array(await response.arrayBuffer());
      const expand = expanders[response.headers.get("content-encoding")] ?? ((same) => same);
      const text = new TextDecoder().decode(expand(bytes));
      const other = text.replace(/("event": ?)(\\d+)/g, (_, name, event) => name + (Number(event) + 1));
      return new Response(other, { status: response.status, headers: { "content-type": "application/json" } });
    };
    Bun.serve = (options) => serve({ ...options, ...(options.port === undefined ? {} : {
      fetch: async function (...given) { return changed(await options.fetch.apply(this, given)); } }) });`),
  /** Its answers of more than a record are no JSON. */
  "answers in riddles": whenRun(`
    const { serve } = Bun;
    const changed = async (response) => {
      const bytes = await response.arrayBuffer();
      if (bytes.byteLength < 60) return new Response(bytes, response);
      return new Response("riddles", { status: response.status, headers: { "content-type": "application/json" } });
    };
    Bun.serve = (options) => serve({ ...options, ...(options.port === undefined ? {} : {
      fetch: async function (...given) { return changed(await options.fetch.apply(this, given)); } }) });`),
  /** It gives the database another form, and changes what was recorded. */
  "changes what was recorded": whenRun(`
    const path = process.argv[process.argv.indexOf("--config") + 1];
    const data = /data = "([^"]*)"/.exec(require("node:fs").readFileSync(path, "utf8"))[1];
    const { Database } = require("bun:sqlite");
    const database = new Database(data + "/lintel.db");
    database.run("PRAGMA busy_timeout = 5000");
    if (database.query("SELECT 1 FROM sqlite_schema WHERE name = 'later'").values().length === 0) {
      database.run("CREATE TABLE later (x)");
      database.run("UPDATE wirelesssensor_events SET event = event + 30000 WHERE seq % 3 = 1");
    }
    database.close();`),
} as const;

/** Something that a release does from the days after its trial on, however often it is started. */
const inDays = (script: string) => `
  const statePath = require("node:path").join(Bun.main, "../../../state.json");
  const isInDays = () => {
    try {
      return JSON.parse(require("node:fs").readFileSync(statePath, "utf8")).trial?.phase === "days";
    } catch {
      return false;
    }
  };
  const waiting = setInterval(() => {
    if (!isInDays()) return;
    clearInterval(waiting);
    ${script}
  }, 200);`;

/** Files of its data directory that a release fills the disk with. */
export const filler = "filler.log";

/** Faults that a trial of some hours does not show. */
export const lateFaults = {
  "crashes again and again": whenRun(inDays("setTimeout(() => process.exit(1), 500);")),
  leaks: whenRun(inDays("const kept = []; setInterval(() => kept.push(Buffer.alloc(5e6, 1)), 500);")),
  "fills the disk slowly": whenRun(
    inDays(`
    const path = process.argv[process.argv.indexOf("--config") + 1];
    const fs = require("node:fs");
    const data = /data = "([^"]*)"/.exec(fs.readFileSync(path, "utf8"))[1];
    let left = 20;
    setInterval(() => left-- > 0 && fs.appendFileSync(data + "/${filler}", Buffer.alloc(5e6, 1)), 500);`),
  ),
  /** It drops what sensors say from what a stick of Texas Instruments (AF_INCOMING_MSG, 0x44 0x81) says, and hears the stick itself. */
  "falls deaf to a make": whenRun(`
    const { file } = Bun;
    let isDeaf = false;
    ${inDays("isDeaf = true;")}
    const deafened = () => {
      let rest = Buffer.alloc(0);
      return new TransformStream({ transform(bytes, controller) {
        rest = Buffer.concat([rest, bytes]);
        for (;;) {
          const length = rest[0] === 0xfe ? 5 + (rest[1] ?? 255) : 1;
          if (rest.length < length) return;
          const frame = rest.subarray(0, length);
          rest = rest.subarray(length);
          if (!isDeaf || frame[2] !== 0x44 || frame[3] !== 0x81) controller.enqueue(new Uint8Array(frame));
        }
      } });
    };
    Bun.file = (path, ...more) => {
      const found = file(path, ...more);
      if (typeof path !== "number") return found;
      const { stream } = found;
      found.stream = () => stream.call(found).pipeThrough(deafened());
      return found;
    };`),
  "stops uploading": `if (process.argv.includes("upload") && process.argv.includes("--json")) {
    const statePath = require("node:path").join(Bun.main, "../../../state.json");
    if (JSON.parse(require("node:fs").readFileSync(statePath, "utf8")).trial?.phase === "days") {
      console.log('{"sent":0,"confirmed_seq":0,"differing_days":0}');
      process.exit(0);
    }
  }`,
} as const;

/** It changes the newest reading at its start, with the form of the database or without, and ends. */
export const spoilsTheNewest = (form: "another form" | "the same form") =>
  whenRun(`
    const path = process.argv[process.argv.indexOf("--config") + 1];
    const data = /data = "([^"]*)"/.exec(require("node:fs").readFileSync(path, "utf8"))[1];
    const { Database } = require("bun:sqlite");
    const database = new Database(data + "/lintel.db");
    database.run("PRAGMA busy_timeout = 5000");
    if (${form === "another form"}) database.run("CREATE TABLE IF NOT EXISTS later (x)");
    database.run("UPDATE wirelesssensor_events SET event = 9999 WHERE seq = (SELECT max(seq) FROM wirelesssensor_events)");
    database.close();
    process.exit(1);`);

/** It gives the database another form at its start. Once a file is there, it changes what was recorded, and ends. */
export const spoilsWhenThere = (file: string) =>
  whenRun(`
    const path = process.argv[process.argv.indexOf("--config") + 1];
    const data = /data = "([^"]*)"/.exec(require("node:fs").readFileSync(path, "utf8"))[1];
    const { Database } = require("bun:sqlite");
    const change = (sql) => {
      const database = new Database(data + "/lintel.db");
      database.run("PRAGMA busy_timeout = 5000");
      database.run(sql);
      database.close();
    };
    change("CREATE TABLE IF NOT EXISTS later (x)");
    setInterval(() => {
      if (!require("node:fs").existsSync(${JSON.stringify(file)})) return;
      change("UPDATE wirelesssensor_events SET event = event + 1000 WHERE seq = 1");
      process.exit(1);
    }, 50);`);

/** Once a file is there, its updater ends at once with this code. */
export const breaksItsUpdaterWhenThere = (file: string, code: number) =>
  whenUpdated(`if (require("node:fs").existsSync(${JSON.stringify(file)})) process.exit(${code});`);
