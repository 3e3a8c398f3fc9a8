import { setDefaultTimeout } from "bun:test";
import { plugin } from "bun";
import { nightly } from "../testbed/nightly.ts";

/** The one limit of time of all tests: it ends a test that hangs, and no other, also on a busy or an emulated machine. */
const test_ms_max = nightly ? 3_600_000 : 600_000;

/** Loaded before every test (bunfig.toml). Bun goes back to its own 5 seconds with each file, so this comes with each file too. */
plugin({
  name: "time limit",
  setup(build) {
    build.onResolve({ filter: /\.test\.tsx?$/ }, () => {
      setDefaultTimeout(test_ms_max);
      return undefined;
    });
  },
});
