import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { readManifest } from "../../src/cli/backup/backup-files.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { eventually } from "../../testbed/front-door.ts";
import { LostBox, numbers } from "./lost-box.ts";

let box: LostBox;
let stick: string;
beforeEach(() => {
  box = new LostBox({ commands: lintelHere });
  stick = join(box.site.directory, "stick");
});
afterEach(() => box[Symbol.asyncDispose]());

const backup = () => box.run("backup", stick, "--config", box.site.config);
const restore = async (...words: string[]) =>
  JSON.parse((await box.run("restore", ...words, "--config", box.site.config, "--json")).out);

/** Gives the first device of the box a name; answers its address. */
async function nameFirst(name: string): Promise<string> {
  const [first] = await box.site.answer("items", "--json", "--data", box.site.data);
  await box.run("items", "name", first.macaddress, name, "--room", "Kitchen", "--data", box.site.data);
  return first.macaddress;
}

async function nameOf(address: string): Promise<string> {
  const items = await box.site.answer("items", "--json", "--data", box.site.data);
  return items.find(({ macaddress }: { macaddress: string }) => macaddress === address).itemname;
}

describe("a lost box", () => {
  beforeEach(() => box.start());

  test("comes back from a backup, and central gets each reading once: those unsent then, and those that follow", async () => {
    await box.live(1, 300);
    expect(await box.upload()).toMatchObject({ sent: 300 });
    await box.live(301, 400);
    const address = await nameFirst("Kitchen door");
    await backup();
    // Readings that were neither uploaded nor backed up are lost with the box.
    await box.live(401, 450);
    box.lose();
    expect(await restore(stick)).toMatchObject({ directory: box.site.data, last_seq: 400, set_aside: null });
    expect(await nameOf(address)).toBe("Kitchen door");
    expect(box.eventsHere()).toEqual(numbers(1, 400));
    await box.live(501, 600);
    expect(await box.upload()).toMatchObject({ sent: 200, confirmed_seq: 500, differing_days: 0 });
    expect(await box.central.events()).toEqual([...numbers(1, 400), ...numbers(501, 600)]);
    await box.live(601, 650);
    expect(await box.upload()).toMatchObject({ sent: 50, differing_days: 0 });
    expect(await box.central.events()).toEqual([...numbers(1, 400), ...numbers(501, 650)]);
    expect((await box.run("verify", "--config", box.site.config, "--json")).out).toContain(
      '"differing_days":0',
    );
  });

  test("comes back from a backup older than its last upload: nothing is sent twice, and buffers are read on from there", async () => {
    await box.live(1, 300);
    await backup();
    await box.live(301, 450);
    expect(await box.upload()).toMatchObject({ sent: 450 });
    box.lose();
    await restore(stick);
    expect(box.eventsHere()).toEqual(numbers(1, 300));
    // The backup says 300; central, that the lost box had got to 450.
    expect(box.cursorHere()).toBe("450");
    expect(box.counterHere()).toBe(450);
    await box.live(451, 500);
    expect(await box.upload()).toMatchObject({ sent: 50, differing_days: 0 });
    expect(await box.central.events()).toEqual(numbers(1, 500));
  });

  test("comes back from central with its records, its readings and its place in buffers, and goes on without repeats or losses", async () => {
    await box.central.import({ homes: [{ homeid: 12, cityname: "Leeds" }] });
    await box.live(1, 450);
    const address = await nameFirst("Kitchen door");
    expect(await box.upload()).toMatchObject({ sent: 450 });
    box.lose();
    const back = await restore("--from-central");
    expect(await nameOf(address)).toBe("Kitchen door");
    expect(back).toMatchObject({ directory: box.site.data, readings: 450, network: false, set_aside: null });
    expect(box.eventsHere()).toEqual(numbers(1, 450));
    expect(box.cursorHere()).toBe("450");
    expect(box.counterHere()).toBe(450);
    const gateway = await box.site.run();
    const home = await gateway.get("/homes/12", await box.site.token());
    expect(await home.json()).toMatchObject({ homeid: 12, cityname: "Leeds" });
    expect(await gateway.stop()).toBe(0);
    await box.live(451, 500);
    expect(await box.upload()).toMatchObject({ sent: 50, differing_days: 0 });
    expect(await box.central.events()).toEqual(numbers(1, 500));
    expect(box.eventsHere()).toEqual(numbers(1, 500));
    // Lost once more: what came back once comes back again, and no more of it.
    box.lose();
    expect(await restore("--from-central")).toMatchObject({ readings: 500 });
    await box.live(501, 510);
    expect(await box.upload()).toMatchObject({ sent: 10, differing_days: 0 });
    expect(await box.central.events()).toEqual(numbers(1, 510));
  });

  test("whose card is damaged is set aside: what can be read of it goes up first, and the rest comes back from central", async () => {
    await box.live(1, 1_000);
    await box.upload();
    await box.live(1_001, 10_000);
    const path = join(box.site.data, "lintel.db");
    new Database(path).run("PRAGMA wal_checkpoint(TRUNCATE)");
    damagePage(path, "blocks");
    expect((await box.site.lintel("restore", "--from-central", "--config", box.site.config)).code).toBe(2);
    const back = await restore("--from-central", "--replace");
    expect(back).toMatchObject({ set_aside: join(box.site.data, "set-aside-1") });
    const { sent_from_remains, lost } = back;
    expect(sent_from_remains + lost).toBe(9_000);
    expect(lost).toBeLessThan(3 * 1_024);
    const held = await box.central.events();
    expect(new Set(held).size).toBe(held.length);
    expect(held).toHaveLength(10_000 - lost);
    expect(box.eventsHere()).toEqual(held);
    await box.live(10_001, 10_010);
    expect(await box.upload()).toMatchObject({ sent: 10, differing_days: 0 });
    expect(await box.central.events()).toHaveLength(10_010 - lost);
  });

  test("comes back from central with as many days as are asked for", async () => {
    await box.live(1, 100);
    await box.upload();
    box.lose();
    expect(await restore("--from-central", "--days", "0")).toMatchObject({ readings: 0 });
    await box.live(101, 110);
    expect(await box.upload()).toMatchObject({ sent: 10 });
    expect(await box.central.events()).toEqual(numbers(1, 110));
    box.lose();
    // More days than there are since 1970.
    expect(await restore("--from-central", "--days", "36500")).toMatchObject({ readings: 110 });
  });

  test("comes back from a backup without central too, which is said", async () => {
    await box.live(1, 100);
    await backup();
    box.lose();
    expect(await box.central.stop()).toBe(0);
    const { said } = await box.run("restore", stick, "--config", box.site.config);
    expect(said).toContain("central could not be asked how far devices have been read");
    expect(box.eventsHere()).toEqual(numbers(1, 100));
    expect(box.cursorHere()).toBe("100");
  });

  test("comes back by the commands of docs/restore.md as they stand there", async () => {
    const page = readFileSync(join(import.meta.dir, "../../docs/restore.md"), "utf8");
    const commands = [...page.matchAll(/^sudo -u lintel lintel (.*)$/gm)].map(([, words = ""]) =>
      words
        .replace("/etc/lintel/lintel.toml", box.site.config)
        .replace("/media/stick/lintel", stick)
        .split(" "),
    );
    const [keep, central, fromStick, doctor, status, damaged] = commands as [string[], ...string[][]];
    expect(commands.map(([word]) => word)).toEqual([
      "backup",
      "restore",
      "restore",
      "doctor",
      "status",
      "restore",
      // Needs a stick with another network: test/shipped/other-network.test.ts.
      "pair",
    ]);
    await box.live(1, 100);
    await box.upload();
    await box.run(...keep);
    box.lose();
    await box.run(...(central ?? []));
    expect(box.eventsHere()).toEqual(numbers(1, 100));
    box.lose();
    await box.run(...(fromStick ?? []));
    expect(box.eventsHere()).toEqual(numbers(1, 100));
    await box.run(...(status ?? []));
    expect((await box.site.lintel(...(doctor ?? []))).out).toContain("central");
    writeFileSync(join(box.site.data, "lintel.db"), "nothing but noise");
    await box.run(...(damaged ?? []));
    expect(box.eventsHere()).toEqual(numbers(1, 100));
  });

  test("brings its configuration back too, and what that names, where nothing stands there", async () => {
    await box.live(1, 10);
    await backup();
    box.lose();
    const token = readFileSync(box.tokenFile, "utf8");
    const configuration = readFileSync(box.site.config, "utf8");
    rmSync(box.tokenFile);
    rmSync(box.site.config);
    const { said } = await box.run("restore", stick, "--config", box.site.config);
    expect(said).toContain(`${box.site.config} is back.`);
    expect(readFileSync(box.site.config, "utf8")).toBe(configuration);
    expect(readFileSync(box.tokenFile, "utf8")).toBe(token);
    expect(await box.upload()).toMatchObject({ sent: 10 });
  });

  test("writes no file outside the directory of its configuration, whatever a backup says", async () => {
    await box.live(1, 10);
    await backup();
    box.lose();
    rmSync(box.tokenFile);
    rmSync(box.site.config);
    const path = join(stick, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    const [named] =
      Object.entries<{ path?: string }>(manifest.files).findLast(([, file]) => file.path !== undefined) ?? [];
    const outside = join(box.site.directory, "..", `lintel-outside-${process.pid}`);
    manifest.files[named ?? ""].path = outside;
    writeFileSync(path, JSON.stringify(manifest));
    const { said } = await box.run("restore", stick, "--config", box.site.config);
    expect(existsSync(outside)).toBe(false);
    expect(said).toContain(`${outside} is outside of ${box.site.directory} and was not put back`);
    expect(said).toContain(`${box.site.config} is back.`);
  });
});

/** Overwrites a page in the middle of a table. */
function damagePage(path: string, table: string): void {
  const database = new Database(path, { readonly: true });
  const pages = database
    .query("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'")
    .values(table)
    .flat();
  database.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, (Number(pages[pages.length >> 1]) - 1) * 4096);
  closeSync(file);
}

describe("restore", () => {
  beforeEach(() => box.configure());

  const refused = async (...words: string[]) => {
    const { code, out, said } = await box.site.lintel("restore", ...words, "--config", box.site.config);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(said.trimEnd().split("\n")).toHaveLength(1);
    return said;
  };

  test("refuses while a gateway runs there", async () => {
    await box.start();
    await box.live(1, 10);
    await backup();
    const gateway = await box.site.run();
    expect(await refused(stick, "--replace")).toMatch(/another Lintel \(process \d+\) is already running on/);
    expect(await refused("--from-central", "--replace")).toMatch(/is already running on/);
    expect(await gateway.stop()).toBe(0);
    expect(box.eventsHere()).toEqual(numbers(1, 10));
  });

  test("refuses where there are data, and sets them aside where it is told to", async () => {
    await box.live(1, 10);
    await backup();
    await box.live(11, 20);
    mkdirSync(join(box.site.data, "drivers/zigbee"), { recursive: true });
    writeFileSync(join(box.site.data, "drivers/zigbee/network.json"), "later");
    expect(await refused(stick)).toContain(`${box.site.data} holds data already: `);
    expect(box.eventsHere()).toEqual(numbers(1, 20));
    const { set_aside } = await restore(stick, "--replace");
    expect(set_aside).toBe(join(box.site.data, "set-aside-1"));
    expect(box.eventsHere()).toEqual(numbers(1, 10));
    expect(existsSync(join(box.site.data, "drivers"))).toBe(false);
    expect(readFileSync(join(set_aside, "drivers/zigbee/network.json"), "utf8")).toBe("later");
    expect(readdirSync(set_aside)).toContain("lintel.db");
    expect((await restore(stick, "--replace")).set_aside).toBe(join(box.site.data, "set-aside-2"));
  });

  test("changes nothing where central refuses the token, and says so in a line", async () => {
    await box.start();
    await box.live(1, 10);
    writeFileSync(box.tokenFile, await box.central.token());
    expect(await refused("--from-central", "--replace")).toMatch(/refuses the token.*token create/);
    expect(box.eventsHere()).toEqual(numbers(1, 10));
    expect(existsSync(join(box.site.data, "restoring"))).toBe(false);
  });

  test("brings nothing of another home back, whose token the box was given", async () => {
    await box.start();
    const other = await box.central.token("--scope", "sync", "--home", "13");
    writeFileSync(box.tokenFile, other, { mode: 0o600 });
    expect(await refused("--from-central")).toMatch(/knows the token as another home's.*correct \[home\] id/);
    expect(box.exists()).toBe(false);
  });

  test("refuses a backup that is not what was written, by the name of the file, and changes nothing", async () => {
    await box.live(1, 10);
    await backup();
    box.lose();
    const path = join(stick, readManifest(stick).directory, "lintel.db");
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    expect(await refused(stick)).toContain(`the backup is damaged: ${path} (other bytes than were written)`);
    expect(box.exists()).toBe(false);
    rmSync(path);
    expect(await refused(stick)).toContain(`the backup is damaged: ${path} (`);
    rmSync(join(stick, "manifest.json"));
    expect(await refused(stick)).toContain(`there is no backup in ${stick}`);
    expect(readdirSync(box.site.data).filter((name) => !name.endsWith(".lock"))).toEqual([]);
  });

  test("that is killed leaves what was there, and the next one is whole", async () => {
    await box.live(1, 20_000);
    await backup();
    const before = readFileSync(join(box.site.data, "lintel.db"));
    const killed = box.site.spawn(["restore", stick, "--replace", "--config", box.site.config]);
    const building = join(box.site.data, "restoring");
    await eventually(() => existsSync(building) || undefined, "it builds", {
      tries_max: 20_000,
      pause_ms: 1,
    });
    killed.kill("SIGKILL");
    await killed.exited;
    expect(readFileSync(join(box.site.data, "lintel.db")).equals(before)).toBe(true);
    expect((await restore(stick, "--replace")).set_aside).toBe(join(box.site.data, "set-aside-1"));
    expect(existsSync(building)).toBe(false);
    expect(box.eventsHere()).toHaveLength(20_000);
  });

  test("that was cut off while it put things in their places is done again without being told to replace", async () => {
    await box.live(1, 10);
    await backup();
    box.lose();
    await restore(stick);
    // As it is between the first and the last file.
    mkdirSync(join(box.site.data, "placing"));
    renameSync(join(box.site.data, "lintel.db"), join(box.site.data, "placing/lintel.db"));
    mkdirSync(join(box.site.data, "drivers/zigbee"), { recursive: true });
    writeFileSync(join(box.site.data, "drivers/zigbee/network.json"), "placed already");
    expect((await restore(stick)).set_aside).toBe(join(box.site.data, "set-aside-1"));
    expect(box.eventsHere()).toEqual(numbers(1, 10));
  });

  test("says which way to choose where none or both are given", async () => {
    expect(await refused()).toContain("the command does not say where to restore from");
    expect(await refused(stick, "--from-central")).toContain("both");
  });

  test("of a PostgreSQL says what to do instead", async () => {
    const url = "postgres://lintel:secret@localhost/lintel";
    for (const command of ["backup", "restore"]) {
      const { code, said } = await box.site.lintel(command, stick, "--database", url);
      expect(code).toBe(2);
      expect(said).toMatch(/pg_dump .* `pg_restore /);
      expect(said).not.toContain("secret");
    }
  });

  test("of central's data directory makes a central that gateways bring up to date again", async () => {
    await box.start();
    await box.live(1, 10);
    await box.upload();
    await box.run("backup", stick, "--data", box.central.data);
    await box.live(11, 20);
    expect(await box.upload()).toMatchObject({ sent: 10 });
    expect(await box.central.stop()).toBe(0);
    rmSync(box.central.data, { recursive: true });
    await box.run("restore", stick, "--data", box.central.data);
    await box.central.start();
    expect(await box.central.events()).toEqual(numbers(1, 10));
    box.configure();
    expect(await box.upload()).toMatchObject({ sent: 10, differing_days: 0 });
    expect(await box.central.events()).toEqual(numbers(1, 20));
  });
});
