#!/usr/bin/env node
import { existsSync } from "node:fs";

const program = new URL("../dist/main.js", import.meta.url);
if (!existsSync(program)) {
  console.error(
    "bursar-signer: not built yet. If `npm start` is still installing or building, wait for it; otherwise run `npm run build` in the checkout.",
  );
  process.exit(1);
}
await import(program.href);
