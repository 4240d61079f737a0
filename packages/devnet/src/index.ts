export { deployer, faucet } from "./chain/accounts.js";
export { contracts, type TokenName } from "./chain/contracts.js";
export { createDevnetClient, type DevnetClient } from "./controls/devnet-client.js";
export { RpcError } from "./rpc-error.js";
export { type SpawnedDevnet, spawnDevnet } from "./spawn-devnet.js";
