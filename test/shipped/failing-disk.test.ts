import { afterAll, expect, test } from "bun:test";
import { SimulatedBox } from "../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../drivers/pillbox/simulator/bridge.ts";
import { eventually, lintel, Site } from "../../testbed/front-door.ts";
import { inHome } from "../../testbed/uploading.ts";

// Writing beyond so many bytes of a file is refused to it, which SQLite tells as an error of the disk.
const file_bytes_max = 64 * 1024;
const limited = `trap '' XFSZ; ulimit -f ${file_bytes_max / 512} && exec "$0" "$@"`;

const site = new Site();
const office = new Site();
const failing = new Site({ program: ["sh", "-c", limited, lintel], data: office.data });
afterAll(async () => {
  await site.remove();
  await failing.remove();
  await office.remove();
});

test("a central whose disk reports errors says so, to its log and to gateways, and takes everything once it works", async () => {
  const central = await office.central("--data", office.data);
  const bridge = await BridgeSimulator.listen({ transport: "pty" });
  const box = new SimulatedBox({ mac: "c0:ff:ee:00:00:01", now_ms: Date.now });
  for (let event = 1; event <= 800; event += 1) box.doors(event % 128, Date.now() - (801 - event) * 1_000);
  bridge.boxes.push(box);
  const home = await inHome(12, site, { site: office, central });
  site.configure({ sections: `${home}\n[pillbox]\nport = "${bridge.path}"` });
  const gateway = await site.run();
  const token = await site.token();
  const doors = "/items/pillboxes/pillbox-c0ffee000001/events?limit=1000";
  await eventually(async () => {
    const answer = await gateway.get(`${doors}`, token);
    return (answer.ok && ((await answer.json()) as unknown[]).length >= 800) || undefined;
  }, "the events of the box");
  await gateway.stop();
  await bridge.close();
  await central.stop();

  const broken = await failing.central("--data", office.data, "--port", new URL(central.origin).port);
  const upload = site.spawn(["upload", "--config", site.config, "--json"]);
  await eventually(() => /asking again in \d{2}/.test(upload.saidByNow) || undefined, "the uploader waits");
  expect(upload.saidByNow).toContain(
    "it answers 507: The disk reports an error: try again in 30 s (code 50703)",
  );
  upload.kill("SIGKILL");
  await broken.stop();
  const said = await broken.process.said();
  expect(said).toContain("cannot be read or written: the disk reports an error");
  expect(said).not.toContain("Unknown error");

  const whole = await office.central("--data", office.data, "--port", new URL(central.origin).port);
  expect(await site.lintel("upload", "--config", site.config)).toMatchObject({ code: 0 });
  const reader = await office.token();
  expect(await whole.all(doors, reader)).toHaveLength(800);
  await whole.stop();
});
