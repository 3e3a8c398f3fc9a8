import { afterEach, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { LinuxBinding } from "../index.ts";
import { called, closed, closing, openPort, passing, seededBytes } from "./wire.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A network adapter: gives its address, and the connections that come in. */
async function adapter(answer: (socket: Socket) => void = () => {}, host = "127.0.0.1") {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const connection = new Promise<Socket>((resolve) => server.once("connection", resolve));
  return { path: `tcp://${host.includes(":") ? `[${host}]` : host}:${port}`, connection, server };
}

test("10 MB each way over tcp, at once, come back byte for byte", async () => {
  const { path } = await adapter((socket) => socket.pipe(socket));
  const port = await openPort(path);
  const bytes = seededBytes(11, 10_000_000);
  const arrived = Buffer.alloc(bytes.length);
  let at = 0;
  const all = new Promise<void>((resolve) =>
    port.on("data", (chunk: Buffer) => {
      at += chunk.copy(arrived, at);
      if (at === bytes.length) resolve();
    }),
  );
  for (let sent = 0; sent < bytes.length; sent += 50_000) {
    if (!port.write(bytes.subarray(sent, sent + 50_000)))
      await new Promise((resolve) => port.once("drain", resolve));
  }
  await called<void>((callback) => port.drain(callback));
  await all;
  expect(Bun.hash(arrived)).toBe(Bun.hash(bytes));
  await closed(port);
});

test("a consumer that doesn't read holds a tcp sender up, and loses nothing", async () => {
  const bytes = seededBytes(12, 40_000_000);
  let handed_bytes = 0;
  const sender = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: (socket) => send(socket), drain: (socket) => send(socket), data() {} },
  });
  function send(socket: Bun.Socket) {
    handed_bytes += socket.write(bytes.subarray(handed_bytes));
  }
  const port = await LinuxBinding.open({ path: `tcp://127.0.0.1:${sender.port}`, baudRate: 115200 });
  const buffer = Buffer.alloc(65_536);
  const first = await port.read(buffer, 0, 1000);
  // The kernel's buffers take some megabytes; after that the sender must come to a standstill.
  for (let before = -1; before !== handed_bytes; await passing(50)) before = handed_bytes;
  expect(handed_bytes).toBeLessThan(20_000_000);

  const hash = new Bun.CryptoHasher("sha256").update(buffer.subarray(0, first.bytesRead));
  for (let at = first.bytesRead; at < bytes.length; ) {
    const { bytesRead } = await port.read(buffer, 0, buffer.length);
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  expect(hash.digest("hex")).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
  await port.close();
  sender.stop(true);
});

test("the far end's hang-up closes serialport as disconnected, and it opens again", async () => {
  const sockets: Socket[] = [];
  const { path } = await adapter((socket) => sockets.push(socket));
  const port = await openPort(path);
  for (let round = 0; round < 5; round++) {
    if (!port.isOpen) await called<void>((callback) => port.open(callback));
    const gone = closing(port);
    port.resume();
    while (sockets.length === 0) await new Promise(setImmediate);
    sockets.pop()?.destroy();
    expect((await gone)?.disconnected).toBe(true);
  }
});
test("a read that waits when a tcp port closes is cancelled", async () => {
  const { path } = await adapter();
  const port = await LinuxBinding.open({ path, baudRate: 115200 });
  const reading = port.read(Buffer.alloc(10), 0, 10).catch((error) => error);
  const writing = port.write(Buffer.alloc(50_000_000)).catch((error) => error);
  await port.close();
  expect((await reading).canceled).toBe(true);
  expect((await writing).canceled).toBe(true);
  await expect(port.close()).rejects.toThrow("Port is not open");
});

test("line settings are accepted on a tcp port, and change nothing", async () => {
  const { path, connection } = await adapter();
  const port = await openPort(path, { baudRate: 9600 });
  await called<void>((callback) => port.set({ dtr: false, rts: false }, callback));
  await called<void>((callback) => port.update({ baudRate: 57_600 }, callback));
  expect(await port.port?.getBaudRate()).toEqual({ baudRate: 57_600 });
  expect(await called<object>((callback) => port.get(callback))).toMatchObject({ cts: false });
  const socket = await connection;
  socket.write("stale");
  await new Promise((resolve) => port.once("readable", resolve));
  port.read();
  await called<void>((callback) => port.flush(callback));
  const heard = new Promise<Buffer>((resolve) => port.once("data", resolve));
  socket.write("fresh");
  expect((await heard).toString()).toBe("fresh");
  await closed(port);
});

test("an IPv6 address is written in brackets", async () => {
  const { path, connection } = await adapter(() => {}, "::1");
  const port = await openPort(path);
  await connection;
  await closed(port);
});

test("a tcp path that nobody answers, or that is no address, is named", async () => {
  const { path, server } = await adapter();
  await new Promise((resolve) => server.close(resolve));
  await expect(openPort(path)).rejects.toThrow(`cannot open ${path}`);
  await expect(openPort("tcp://localhost")).rejects.toThrow("tcp://host:port");
  await expect(openPort("tcp://")).rejects.toThrow("tcp://host:port");
});
