import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Asset } from "@bursar/domain";
import type { Config } from "../../config/load-config.js";
import type { NetworkDefinition } from "../../config/network-list.js";
import type { Settings } from "../../config/settings.js";
import type { CompanionLog } from "./companion-process.js";
import { startOnDemand } from "./start-on-demand.js";

const network = "eip155:31337";
const loopback = "127.0.0.1";
const gwei = 10n ** 9n;
const noLimit = 10n ** 60n;

/** The assets of the development chain, and what its faucet calls them. */
const chainAssets = [
  { code: "ETH.DEV", decimals: 18, caip19: `${network}/slip44:60`, faucetName: "ETH" },
  {
    code: "USDC.DEV",
    decimals: 6,
    caip19: `${network}/erc20:0x8464135c8f25da09e49bc8782676a84730c318bc`,
    faucetName: "USDC",
  },
] as const;

/** How the running sandbox's chain and signer are reached, which starts them. It is kept in a file for the commands of the operator. */
export interface SandboxChain {
  rpcUrl: string;
  signerSocket: string;
  /** Names the database that the sandbox runs on. */
  database: string;
}

type ChainSettings = Pick<Settings, "assets" | "networks" | "signer_socket">;

/** The settings of a sandbox with this chain. */
export function withSandboxChain(assets: readonly Asset[], chain: SandboxChain): ChainSettings {
  const definition: NetworkDefinition = {
    network,
    rpcUrls: [chain.rpcUrl],
    finality: { tag: "finalized" },
    feeCap: 500n * gwei,
    feeMax: 50_000_000n * gwei,
    tipMax: 20n * gwei,
    minimumTip: gwei / 100n,
    inFlightMax: 16,
    hasDataFee: false,
    hasPool: true,
  };
  const added = chainAssets.map(({ faucetName: _, ...asset }) => ({
    ...asset,
    network,
    minimum: 1n,
    maximum: noLimit,
  }));
  return { assets: [...assets, ...added], networks: [definition], signer_socket: chain.signerSocket };
}

/** Why a sandbox has no chain, as part of a sentence; undefined if it has one. */
export function whyNoChain({ values, sources }: Config): string | undefined {
  if (values.sandbox_chain === "off") return "BURSAR_SANDBOX_CHAIN is off";
  // They replace those of the sandbox, and with them its chain.
  if (sources.assets !== "default" || sources.networks !== "default")
    return "the configuration has its own `assets` or `networks`";
  return isInstalled() ? undefined : "the development chain is not installed (`npm ci` installs it)";
}

/** Explains why a sandbox that has used its chain cannot run without one; undefined for an asset that the chain does not have. */
export function explainMissingAsset(config: Config, code: string): string | undefined {
  const reason = whyNoChain(config);
  if (reason === undefined || !chainAssets.some((asset) => asset.code === code)) return undefined;
  return `This sandbox stores ${code}, an asset of its chain, and cannot run without the chain: ${reason}. To run without a chain, choose a new data folder with BURSAR_DATA_DIR.`;
}

const packageFile = (name: string, file: string) =>
  fileURLToPath(new URL(`../../../../${name}/${file}`, import.meta.url));

/** A production install has the signer, but not the development chain. */
function isInstalled(): boolean {
  const main = packageFile("devnet", "dist/main.js");
  if (!existsSync(main)) return false;
  const { resolve } = createRequire(main);
  const edr = `@nomicfoundation/edr-${process.platform}-${process.arch}`;
  return [edr, `${edr}-gnu`].some((name) => {
    try {
      return resolve(name) !== "";
    } catch {
      return false;
    }
  });
}

export interface RunningChain {
  settings: ChainSettings;
  stop: () => Promise<void>;
}

/** Starts the chain and the signer, when they are used, in the data folder, which this process has locked; undefined if there is to be no chain. */
export async function startSandboxChain(
  config: Config,
  log: CompanionLog,
  onLost: (error: Error) => void,
): Promise<RunningChain | undefined> {
  const { values } = config;
  mkdirSync(values.data_dir, { recursive: true });
  const dataDir = realpathSync(values.data_dir);
  const file = chainFile(dataDir);
  rmSync(file, { force: true });
  if (whyNoChain(config) !== undefined) return undefined;
  const common = { dataDir, log, onLost };
  const [devnet, signer] = await Promise.all([
    startOnDemand({
      companion: {
        ...common,
        name: "chain",
        script: packageFile("devnet", "dist/main.js"),
        args: ["--data", join(dataDir, "chain"), "--port", "0"],
        argsOfRestart: (url) => ["--data", join(dataDir, "chain"), "--port", new URL(url).port],
      },
      listenOn: { host: loopback, port: 0 },
      placeOf: (url) => ({ host: loopback, port: Number(new URL(url).port) }),
    }),
    startOnDemand({
      companion: {
        ...common,
        name: "signer",
        script: packageFile("signer", "dist/main.js"),
        args: [
          "serve",
          ...["--data", join(dataDir, "signer"), "--key-file", join(dataDir, "signer.key")],
          ...["--socket", socketPath(dataDir, "signer.sock"), "--create"],
        ],
      },
      listenOn: { path: socketPath(dataDir, "signer-starter.sock") },
      placeOf: () => ({ path: socketPath(dataDir, "signer.sock") }),
    }),
  ]);
  const chain = {
    rpcUrl: `http://${loopback}:${devnet.place.port}`,
    signerSocket: signer.place.path,
    database: nameDatabase(values.database_url),
  };
  writeFileSync(file, `${JSON.stringify(chain)}\n`, { mode: 0o600 });
  return {
    settings: withSandboxChain(values.assets, chain),
    stop: async () => {
      rmSync(file, { force: true });
      await Promise.all([signer.stop(), devnet.stop()]);
    },
  };
}

/** The chain of the sandbox that runs on this data folder and database, if it has one. */
export function findSandboxChain({ values }: Config): SandboxChain | undefined {
  try {
    const chain = JSON.parse(readFileSync(chainFile(values.data_dir), "utf8")) as SandboxChain;
    return chain.database === nameDatabase(values.database_url) ? chain : undefined;
  } catch {
    return undefined;
  }
}

/** Sends coins or tokens from the faucet; returns the hash of the transaction. */
export async function fundFromFaucet(
  { rpcUrl }: SandboxChain,
  { asset, amount, address }: { asset: string; amount: bigint; address: string },
): Promise<string> {
  const name = chainAssets.find(({ code }) => code === asset)?.faucetName;
  if (name === undefined) throw new Error(`the faucet has no ${asset}`);
  const params = [{ address, amount: amount.toString(), asset: name }];
  const answer = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "devnet_fund", params }),
  });
  const { result, error } = (await answer.json()) as { result?: string; error?: { message: string } };
  if (result === undefined) throw new Error(`the faucet refused: ${error?.message ?? "no reason given"}`);
  return result;
}

function chainFile(dataDir: string): string {
  return join(dataDir, "chain.json");
}

function nameDatabase(url: string | undefined): string {
  return createHash("sha256")
    .update(url ?? "")
    .digest("hex");
}

/** The system allows 107 bytes for the path of a socket. */
const socketPathMax = 100;

function socketPath(dataDir: string, file: string): string {
  const path = join(dataDir, file);
  if (Buffer.byteLength(path) <= socketPathMax) return path;
  const name = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), `bursar-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, file);
}
