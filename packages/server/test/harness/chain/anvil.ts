import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contracts, createDevnetClient, deployer, faucet } from "@bursar/devnet";
import { type Abi, encodeDeployData } from "viem";
import { freePort } from "../../../src/embedded/free-port.js";
import { eventually } from "../eventually.js";
import { encodeCall } from "./devnet.js";

/** Where tools/anvil/fetch-anvil.mjs puts it. */
const cache = fileURLToPath(new URL("../../../../../node_modules/.cache", import.meta.url));
const program = join(cache, "anvil-1.7.1/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil");

export const hasAnvil = existsSync(program);

/** A node of Foundry: another implementation of a chain, of its pool and of its reorganisations than the development chain. */
export interface Anvil {
  url: string;
  request: (method: string, params?: readonly unknown[]) => Promise<unknown>;
  /** Sends coins or USDC from an account that has many, as a transaction like any other. */
  fund: (request: { address: string; asset: "ETH" | "USDC"; amount: bigint }) => Promise<void>;
  stop: () => Promise<void>;
}

const safeDepth = 6;
/** Anvil's `finalized` is two epochs behind its head, its `safe` one. */
export const anvilFinalDepth = 2 * safeDepth;

/** Mined by hand. The contract of USDC has the address that it has on the development chain, and is final. */
export async function spawnAnvil(): Promise<Anvil> {
  const port = await freePort();
  const options = ["--no-mining", "--chain-id", "31337", "--slots-in-an-epoch", String(safeDepth)];
  const child = spawn(program, [...options, "--port", String(port), "--balance", "1000000000", "--silent"], {
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  const endWithParent = () => child.kill("SIGKILL");
  process.once("exit", endWithParent);
  const { url, request } = createDevnetClient(`http://127.0.0.1:${port}`);
  await eventually(
    () => request("eth_chainId").catch(() => undefined),
    (id) => id !== undefined,
  );
  await request("eth_sendTransaction", [{ from: deployer.address, data: deploymentOfUsdc() }]);
  await request("anvil_mine", [`0x${(anvilFinalDepth + 1).toString(16)}`]);
  return {
    url,
    request,
    fund: async ({ address, asset, amount }) => {
      const from = faucet.address;
      const call =
        asset === "ETH"
          ? { from, to: address, value: `0x${amount.toString(16)}` }
          : { from, to: contracts.USDC.address, data: encodeCall("transfer", [address, amount]) };
      await request("eth_sendTransaction", [call]);
    },
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      process.off("exit", endWithParent);
    },
  };
}

function deploymentOfUsdc(): string {
  const { source, arguments: args } = contracts.USDC;
  const url = new URL(`../../../../devnet/contracts/${source}.json`, import.meta.url);
  const { abi, bytecode } = JSON.parse(readFileSync(url, "utf8")) as { abi: Abi; bytecode: `0x${string}` };
  return encodeDeployData({ abi, bytecode, args });
}
