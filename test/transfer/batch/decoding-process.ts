/**
 * Reads a batch from standard input, and says what is wrong with it and by how many bytes the process had to grow at most.
 */
import { decodeBatch } from "../../../src/transfer/batch-codec.ts";

const bytes = new Uint8Array(await Bun.stdin.arrayBuffer());
const before_kib = process.resourceUsage().maxRSS;
let fault = "";
try {
  decodeBatch(bytes);
} catch (thrown) {
  fault = String(thrown);
}
const grown_bytes = (process.resourceUsage().maxRSS - before_kib) * 1024;
console.log(JSON.stringify({ fault, grown_bytes }));
