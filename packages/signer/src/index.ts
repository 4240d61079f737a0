export { createMemorySigner, type MemorySigner, publicWords } from "./memory-signer.js";
export { type SpawnedSigner, signerProgram, spawnSigner } from "./spawn-signer.js";
