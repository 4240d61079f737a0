#!/usr/bin/env node
import { executionAsyncResource } from "node:async_hooks";
import { existsSync, statSync } from "node:fs";
import { mapStackTraces } from "./map-stack-traces.mjs";
import { refuseOldNode } from "./refuse-old-node.mjs";

refuseOldNode();

// V8 optimises the object behind each `process.nextTick` for the one shape that it has seen. A garbage collection that finds none of
// these objects forgets the shape, and from then on each is created the slow way: 1.7 µs instead of 0.95 for a tick, of which a request
// has six. That is 2 % of a transaction but 6 to 12 % of a request for the order book, so one object is kept (decision 0025).
const kept = [];
process.nextTick(() => kept.push(executionAsyncResource()));

const built = new URL("../dist/cli/program.js", import.meta.url);
const bundle = new URL("../dist/bundle/program.js", import.meta.url);
if (!existsSync(built)) {
  console.error(
    "bursar: not built yet. If `npm start` is still installing or building, wait for it; otherwise run `npm run build` in the checkout.",
  );
  process.exit(1);
}
const isBundle = isBundled();
if (isBundle) mapStackTraces(new URL("./", bundle).href);
const { runCli } = await import((isBundle ? bundle : built).href);
process.exit(await runCli(process.argv.slice(2)));

/** Whether the bundle is of the last build: the compiler alone, as during development, does not write it. */
function isBundled() {
  if (!existsSync(bundle)) return false;
  const { mtimeMs } = statSync(bundle);
  return ["server", "domain", "protocol"].every((name) => {
    const record = new URL(`../../${name}/dist/tsconfig.tsbuildinfo`, import.meta.url);
    return existsSync(record) && statSync(record).mtimeMs <= mtimeMs;
  });
}
