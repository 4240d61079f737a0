// npm run test:long -- <proof> [--size value]: runs one proof at its long sizes or the given ones. --list lists the proofs.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./files.mjs";
import { sizesOf } from "./proofs/proof-sizes.mjs";
import { proofs } from "./proofs/proofs.mjs";

const [name = "--list", ...args] = process.argv.slice(2);
if (name === "--list") list();
else run(name, args);

function list() {
  console.log("npm run test:long -- <proof> [options]\n");
  for (const [proof, { shows, sizes }] of Object.entries(proofs)) {
    console.log(`${proof}: ${shows}`);
    for (const [option, { short, long, means }] of Object.entries(
      /** @type {Record<string, import("./proofs/proofs.mjs").Size>} */ (sizes),
    ))
      console.log(
        `  --${option.padEnd(15)} ${means}${long === undefined ? "" : `: ${long} (${short} in test:proofs)`}`,
      );
  }
}

/** @param {string} name @param {string[]} args */
function run(name, args) {
  const proof = /** @type {Record<string, import("./proofs/proofs.mjs").Proof>} */ (proofs)[name];
  if (proof === undefined) fail(`There is no proof "${name}". There are: ${Object.keys(proofs).join(", ")}.`);
  const { status } = spawnSync(
    join(root, "node_modules/.bin/vitest"),
    ["run", "--project", "proofs*", ...proof.files.map((file) => file.replace("*.test.ts", ""))],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...sizesOf(proof, "long", sizesFrom(proof, args)), BURSAR_PROOF_FORM: "long" },
    },
  );
  process.exit(status ?? 1);
}

/** @param {import("./proofs/proofs.mjs").Proof} proof @param {string[]} args */
function sizesFrom({ sizes }, args) {
  try {
    const options = Object.fromEntries(
      Object.keys(sizes).map((size) => [size, /** @type {const} */ ({ type: "string" })]),
    );
    const { values } = parseArgs({ args, options });
    const wrong = Object.entries(values).find(([, value]) => !/^\d+$/.test(String(value)));
    if (wrong !== undefined) fail(`--${wrong[0]} must be a whole number, not "${wrong[1]}".`);
    return values;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message);
  process.exit(2);
}
