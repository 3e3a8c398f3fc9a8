/** A web server for a folder of releases, with ranges, at the pace of a home's line: web.ts FOLDER PORT. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

const [folder = "", port] = process.argv.slice(2);
const piece_bytes = 256 * 1024;
const bytes_per_s = 16 * 1024 * 1024;

Bun.serve({
  port: Number(port),
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch(request) {
    const path = join(folder, decodeURIComponent(new URL(request.url).pathname));
    if (!existsSync(path) || !statSync(path).isFile()) return new Response("", { status: 404 });
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1] ?? 0);
    let at = from;
    const size = statSync(path).size;
    const body = new ReadableStream({
      async pull(controller) {
        const piece = await Bun.file(path)
          .slice(at, at + piece_bytes)
          .bytes();
        at += piece.length;
        if (piece.length > 0) controller.enqueue(piece);
        if (at >= size) controller.close();
        await Bun.sleep((piece.length / bytes_per_s) * 1000);
      },
    });
    return new Response(body, { status: from > 0 ? 206 : 200 });
  },
});
console.log("ready");
