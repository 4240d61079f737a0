// npm run test:book -- --operations 1000000: the comparison of the order book with its reference in its long form.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./files.mjs";

const { values } = parseArgs({ options: { operations: { type: "string", default: "1000000" } } });
const { status } = spawnSync(
  join(root, "node_modules/.bin/vitest"),
  ["run", "packages/domain/test/book/comparison.test.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, BURSAR_BOOK_OPERATIONS: values.operations },
  },
);
process.exit(status ?? 1);
