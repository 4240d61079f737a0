// Fetches anvil, the node of Foundry, before `npm run test:chain`: a part of that proof runs against it. It is a file of 43 MB that nothing
// else needs, so it is no dependency. Its package exists for x64 only; without it that part is skipped.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../files.mjs";

const name = "@foundry-rs/anvil-linux-amd64";
const version = "1.7.1";
const integrity =
  "sha512-+XmShybEaxfCrr0OUUZwYEy2OnYZt5pHH9TzBtLv3+VrK0O/ANuNSVEahqNhKHlgX7GRJ59383ofNhxkRWIYTg==";
/** The harness of the tests looks for it here: packages/server/test/harness/chain/anvil.ts. */
const folder = join(root, "node_modules/.cache", `anvil-${version}`);
const program = join(folder, "node_modules", name, "bin/anvil");

if (process.platform !== "linux" || process.arch !== "x64")
  console.log(
    `anvil ${version} has no package for ${process.platform} on ${process.arch}: its part is skipped`,
  );
else if (!existsSync(program)) fetchAnvil();

/** With a lockfile, so that npm refuses a package that is not this one. */
function fetchAnvil() {
  console.log(`fetching anvil ${version} (15 MB)`);
  const own = { name: "anvil", version, private: true, dependencies: { [name]: version } };
  const resolved = `https://registry.npmjs.org/${name}/-/${name.split("/")[1]}-${version}.tgz`;
  const packages = { "": own, [`node_modules/${name}`]: { version, resolved, integrity } };
  const lockfile = { name: "anvil", version, lockfileVersion: 3, requires: true, packages };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify(own));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lockfile));
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) console.log(`anvil ${version} could not be fetched: its part is skipped`);
}
