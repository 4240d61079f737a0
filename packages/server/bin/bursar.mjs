#!/usr/bin/env node
import { executionAsyncResource } from "node:async_hooks";
import { existsSync } from "node:fs";

// Every `process.nextTick` makes an object, and V8 compiles that for the one shape that it has seen. A collection of garbage that
// finds none of these objects forgets the shape, and the next object looks to it like a second one: from then on each of them is
// made by the slow way, for as long as the process lives. A request has six, and 4 µs of its 34 went there. So one is kept.
const kept = [];
process.nextTick(() => kept.push(executionAsyncResource()));

const program = new URL("../dist/cli/program.js", import.meta.url);
if (!existsSync(program)) {
  console.error("bursar: not built yet; `npm run build` in the checkout builds it.");
  process.exit(1);
}
const { runCli } = await import(program.href);
process.exit(await runCli(process.argv.slice(2)));
