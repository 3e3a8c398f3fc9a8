import type { BatchDevice } from "../batch.ts";
import { arrays, change, rowsOf, type Work } from "../database.ts";
import { isOfDevice, type SpanOfDevice } from "../erasure.ts";
import type { Homes } from "./homes.ts";

/** Takes out of the cursors of a gateway what they tell of a span: see `BufferCursor.bare`. The buffers are read from there on all the same. */
export function* bareCursors(homes: Homes, of: SpanOfDevice): Work<void> {
  if (!homes.one) return;
  const rows = yield* rowsOf(
    arrays<[name: string, kind: BatchDevice["kind"], address: string]>(
      "SELECT name, typename, address FROM cursors WHERE at_ms >= $1 AND at_ms < $2",
      ...[of.from_ms, of.before_ms],
    ),
  );
  // A cursor names no item: of a span of one, those of its kind are meant.
  const scope = { ...of, itemid: null };
  for (const [name, kind, address] of rows) {
    if (!isOfDevice(scope, { kind, address })) continue;
    yield* change("DELETE FROM cursors WHERE name = $1 AND bare IS NULL", name);
    yield* change(
      "UPDATE cursors SET value = bare, bare = NULL, typename = NULL, address = NULL, at_ms = NULL WHERE name = $1",
      name,
    );
  }
}
