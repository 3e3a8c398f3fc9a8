import { expect, test } from "bun:test";
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Epoll } from "../index.ts";

const here = import.meta.dir;
/** As root, or as anybody where users may have namespaces of their own. */
const namespaces = ["unshare", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--mount", "--uts"];

const layout = Bun.spawnSync([...namespaces, join(here, "fake-gpio.sh"), "true"]);
const mountable = layout.exitCode === 0;
if (!mountable) {
  console.error(
    `NOT TESTED: onoff on a fake /sys/class/gpio, for want of mounts: ${layout.stderr.toString().trim()}`,
  );
}

test.skipIf(!mountable)("onoff, unmodified, hears every edge of a button and drives a lamp", async () => {
  const child = Bun.spawn(
    [...namespaces, join(here, "fake-gpio.sh"), process.execPath, join(here, "button-and-lamp.ts")],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual({
    accessible: true,
    lit: 1,
    dark: 0,
    both: [1, 0, 1, 0, 1, 0],
    presses: [1],
  });
  expect(await child.exited).toBe(0);
});

/** A control group's state file is served by the same kernel code as a GPIO's value: kernfs, `kernfs_notify`. */
const groups = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find(
  (path) => existsSync(`${path}/cgroup.procs`) && existsSync(`${path}/cgroup.controllers`),
);
const name = `${groups}/epoll-test-${process.pid}`;
const grouped = groups !== undefined && made(name);
if (!grouped)
  console.error("NOT TESTED: EPOLLPRI on a kernfs file, for want of a control group that may be made");

test.skipIf(!grouped)(
  "a kernfs file, as sysfs GPIO values are, raises EPOLLPRI until it is read",
  async () => {
    const fd = openSync(`${name}/cgroup.events`, "r");
    const sleeper = Bun.spawn(["sleep", "60"]);
    try {
      const read = () => {
        const bytes = Buffer.alloc(64);
        return bytes.toString("latin1", 0, readSync(fd, bytes, 0, 64, 0)).split("\n")[0];
      };
      expect(read()).toBe("populated 0");
      let heard: (events: number | undefined) => void = () => {};
      let unread = 0;
      const texts: (string | undefined)[] = [];
      const epoll = new Epoll((_, __, events) => {
        // Left unread twice, it must come again each time; read, it must not.
        if (++unread < 3) return;
        unread = 0;
        texts.push(read());
        heard(events);
      });
      epoll.add(fd, Epoll.EPOLLPRI);
      for (const [group, text] of [
        [name, "populated 1"],
        [groups, "populated 0"],
      ] as const) {
        const event = new Promise<number | undefined>((resolve) => (heard = resolve));
        writeFileSync(`${group}/cgroup.procs`, `${sleeper.pid}`);
        expect(await event).toBe(Epoll.EPOLLPRI | Epoll.EPOLLERR);
        expect(texts.at(-1)).toBe(text);
        expect(unread).toBe(0);
      }
      epoll.close();
    } finally {
      closeSync(fd);
      sleeper.kill();
      await sleeper.exited;
      rmdirSync(name);
    }
  },
);

function made(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch {
    return false;
  }
}
