import type { Abi } from "viem";
import { deployer } from "./accounts.js";
import { type ChainState, headOf } from "./chain-state.js";
import { contracts, readArtefact } from "./contracts.js";
import { genesisTime } from "./edr.js";
import { mineBlock } from "./mine.js";
import { initialDataFee, setDataFee } from "./state-changes.js";

/** Deploys the contracts in block 1, unless the journal had it. A kill before that block leaves a chain that begins again here. */
export async function mineFirstBlock(state: ChainState): Promise<void> {
  if (state.blocks.length > 1) return;
  if (state.identity.kind === "op") await setDataFee(state, initialDataFee);
  await mineBlock(state, { timestamp: genesisTime + 1, transactions: await signDeployments(state) });
}

/**
 * Makes the deployments final at once, so that the first final block that anybody sees has the contracts. With the clock's times these
 * blocks would be in the future.
 */
export async function finaliseFirstBlock(state: ChainState, finalDepth: number): Promise<void> {
  while (state.lastActive <= 1 && headOf(state).number < finalDepth + 1)
    await mineBlock(state, { timestamp: headOf(state).timestamp + 1 });
}

async function signDeployments(state: ChainState): Promise<string[]> {
  // Loaded here because a chain that exists already does not need it: it costs 30 MB.
  const [{ encodeDeployData }, { privateKeyToAccount }] = await Promise.all([
    import("viem/utils"),
    import("viem/accounts"),
  ]);
  const account = privateKeyToAccount(deployer.privateKey);
  return await Promise.all(
    Object.values(contracts).map(async ({ source, arguments: args }, nonce) => {
      const { abi, bytecode } = readArtefact(source);
      return await account.signTransaction({
        chainId: state.identity.chainId,
        type: "eip1559",
        nonce,
        gas: 3_000_000n,
        maxFeePerGas: 10_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        data: encodeDeployData({ abi: abi as Abi, bytecode, args }),
      });
    }),
  );
}
