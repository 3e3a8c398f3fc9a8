/**
 * Serves pages as PostgreSQL encodes them at /events/{item}?before=, and one page from memory at /static: `bun page-server.ts URL FILE`, with a
 * database that has `events (item, stamp, event)` and a file with the bytes of a page. Prints its port as one line of JSON.
 */
import postgres from "postgres";

const [url = "", file = ""] = process.argv.slice(2);
const sql = postgres(url, { max: 16 });
const headers = { "content-type": "application/json" };
const page = await Bun.file(file).bytes();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/static": new Response(page, { headers }),
    "/events/:item": async (request) => {
      const before = Number(new URL(request.url).searchParams.get("before"));
      const [row] = await sql`SELECT json_agg(page)::text AS page FROM (SELECT stamp, event FROM events
        WHERE item = ${Number(request.params.item)} AND stamp < ${before} ORDER BY stamp DESC LIMIT 1000) AS page`;
      return new Response(row?.["page"], { headers });
    },
  },
});
console.log(JSON.stringify({ port: server.port }));
process.on("SIGTERM", () => process.exit());
