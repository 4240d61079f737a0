import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type SpawnedDevnet, spawnDevnet } from "@bursar/devnet";
import { type SpawnedSigner, spawnSigner } from "@bursar/signer";
import { startTestService, type TestService } from "../service/test-service.js";
import { createTemporaryFolder } from "../temporary-folder.js";

export const chainNetwork = "eip155:31337";
/** The token of the development chain that is configured as USDC.DEV. */
export const usdcContract = "0x8464135c8f25da09e49bc8782676a84730c318bc";

/** The key in the path of the node's URL, which must be seen nowhere. */
export const nodeSecret = "node-secret-5f1c";

export interface ChainService extends TestService {
  devnet: SpawnedDevnet;
  /** Starts the signer, if it is not running. */
  startSigner: () => Promise<void>;
  stopSigner: () => Promise<void>;
  /** A second service on the same database, chain and signer. */
  restart: () => Promise<TestService>;
}

export interface ChainServiceOptions {
  /** Options of the development chain. */
  devnet?: readonly string[];
  withoutSigner?: boolean;
  /** Lines of the network's entry, besides its name and URL. */
  network?: string;
}

/** The service with a development chain and a real signer, each a process of its own. */
export async function startChainService(options: ChainServiceOptions = {}): Promise<ChainService> {
  const folder = createTemporaryFolder("chain");
  const devnet = await spawnDevnet(
    options.devnet ?? ["--block-time-ms", "50", "--final-depth", "4", "--safe-depth", "2"],
  );
  const configuration = join(folder, "bursar.yaml");
  writeFileSync(configuration, configurationOf(devnet.url, options.network ?? ""));
  const socket = join(folder, "signer.sock");
  let signer: SpawnedSigner | undefined;
  const startSigner = async () => {
    const files = { folder: join(folder, "signer"), keyFile: join(folder, "signer.key"), socketPath: socket };
    signer ??= await spawnSigner(files);
  };
  const stopSigner = async () => {
    const ending = signer;
    signer = undefined;
    await ending?.stop();
  };
  if (options.withoutSigner !== true) await startSigner();
  const settings = {
    BURSAR_CONFIG: configuration,
    BURSAR_SIGNER_SOCKET: socket,
    BURSAR_DESTINATION_DELAY_SECONDS: "0",
  };
  const service = await startTestService(settings);
  const { database, masterKey } = service;
  return {
    ...service,
    devnet,
    startSigner,
    stopSigner,
    restart: () => startTestService(settings, { database, masterKey, publicUrl: service.url }),
    stop: async () => {
      await service.stop();
      await stopSigner();
      await devnet.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configurationOf(url: string, more: string): string {
  return `
assets:
  - { code: USD, decimals: 2, network: book, minimum: "0.01", maximum: "1000000" }
  - { code: ETH, decimals: 18, network: book, minimum: "0.01", maximum: "1000000" }
  - { code: ETH.DEV, caip19: "${chainNetwork}/slip44:60", decimals: 18, network: "${chainNetwork}", minimum: "0.000001", maximum: "1000000" }
  - { code: USDC.DEV, caip19: "${chainNetwork}/erc20:${usdcContract}", decimals: 6, network: "${chainNetwork}", minimum: "0.01", maximum: "1000000" }
networks:
  - { network: "${chainNetwork}", rpc_urls: "${url}/?key=${nodeSecret}", fee_cap_gwei: "500", minimum_tip_gwei: "1" ${more} }
`;
}
