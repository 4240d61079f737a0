import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../simulation/world/random.js";
import { type DevelopmentChain, reorganisationMax } from "./proof-chain.js";
import type { ProofWorld } from "./proof-world.js";
import type { NetworkFaults } from "./prove-chain.js";

const pauseMinMs = 150;
const pauseMaxMs = 700;
/** Shorter than blocks need to become final: what two nodes disagree about finally halts the network. */
const conditionMs = 500;
const spikeMs = 1500;
const gwei = 10n ** 9n;

/** What goes wrong between a service and its nodes and on the chain itself, one after the other, until it is stopped. */
export function startNetworkFaults(
  { chain: devnet, lie }: ProofWorld<DevelopmentChain>,
  random: Random,
): NetworkFaults {
  const counts: Record<string, number> = {};
  const node = () => random.pick(["main", "second"] as const);
  /** Two nodes that tell the same lie are the chain, for all that the service can know. So one of them always tells the truth about its state. */
  const liar = node();
  type Fault = Parameters<typeof devnet.control<"devnet_addFault">>[1]["fault"];
  const answer = (fault: Fault, by = node()) => devnet.control("devnet_addFault", { node: by, fault });
  const times = () => random.between(1, 4);
  const send = ["eth_sendRawTransaction"];
  const reads = ["eth_getLogs", "eth_getTransactionReceipt", "eth_getBlockByHash", "eth_getBlockByNumber"];

  /** Other conditions of a node, for a moment. */
  async function withConditions(conditions: { lagBlocks?: number; forkedFrom?: number }): Promise<void> {
    const one = node();
    await devnet.control("devnet_setConditions", { node: one, conditions });
    await sleep(conditionMs);
    await devnet.control("devnet_setConditions", { node: one, conditions: {} });
  }

  const faults: Readonly<Record<string, () => Promise<unknown>>> = {
    "a dropped transaction": async () => {
      const pool = await devnet.control("devnet_listPool", {});
      const hashes = pool.filter(() => random.chance(0.3)).map(({ hash }) => hash);
      if (hashes.length > 0) await devnet.control("devnet_dropTransactions", { hashes });
    },
    "a lost answer to a transaction": () =>
      answer({ methods: send, effect: { kind: "lost" }, times: times() }),
    "a lost answer": () => answer({ effect: { kind: "lost" }, every: 3, times: times() }),
    "a cut connection": () => answer({ effect: { kind: "cut" }, every: 2, times: times() }),
    "an empty answer": () =>
      answer({ methods: [random.pick(reads)], effect: { kind: "empty" }, times: times() }),
    "a late answer": () => answer({ effect: { kind: "late", delayMs: 400 }, every: 5, times: times() }),
    "a refusal that is not true": () =>
      answer({
        methods: send,
        effect: { kind: "error", code: -32000, message: "nonce too low", carriedOut: true },
        times: times(),
      }),
    "a refusal": () =>
      answer({
        methods: send,
        effect: { kind: "error", code: -32000, message: "already known", carriedOut: false },
        times: times(),
      }),
    "a page of HTML": () =>
      answer({ effect: { kind: "status", status: 502, body: "<html>bad gateway</html>" }, times: 1 }),
    "a wrong amount of gas": () =>
      answer({ methods: ["eth_estimateGas"], effect: { kind: "wrong", result: "0x0" }, times: times() }),
    "a wrong balance": () =>
      answer({ methods: ["eth_getBalance"], effect: { kind: "wrong", result: "0x1" }, times: times() }, liar),
    "a wrong nonce": () =>
      answer(
        { methods: ["eth_getTransactionCount"], effect: { kind: "wrong", result: "0xfff" }, times: 1 },
        liar,
      ),
    "wrong fees": () =>
      answer({ methods: ["eth_feeHistory"], effect: { kind: "wrong", result: {} }, times: times() }),
    "a lagging node": () => withConditions({ lagBlocks: random.between(1, 6) }),
    "a node on another fork": async () => {
      const { head } = await devnet.control("devnet_status", {});
      await withConditions({ forkedFrom: head.number });
    },
    "a head that does not exist": async () => {
      lie((path, calls, text) => (path === "/" && calls.some(isHead) ? raiseHead(text) : undefined));
      await sleep(conditionMs);
      lie(undefined);
    },
    "a fee spike": async () => {
      const wei = (BigInt(random.between(20, 250)) * gwei).toString();
      await devnet.control("devnet_setBaseFee", { wei, hold: true });
      await sleep(spikeMs);
      await devnet.control("devnet_setBaseFee", {});
    },
  };
  const names = Object.keys(faults);

  async function reorganise(): Promise<void> {
    const depth = random.between(1, reorganisationMax);
    const transactions = random.pick(["include", "return", "drop"] as const);
    await devnet.control("devnet_reorganise", { depth, add: depth + 1, transactions });
    count(`a reorganisation of ${depth}`);
  }

  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  let isOn = true;
  const running = (async () => {
    while (isOn) {
      await sleep(random.between(pauseMinMs, pauseMaxMs));
      if (random.chance(0.25)) {
        // A chain that is too short refuses it.
        await reorganise().catch(() => undefined);
        continue;
      }
      const name = random.pick(names);
      // A chain keeps a hundred faults, also those that have ended.
      await faults[name]?.().catch(devnet.heal);
      count(name);
    }
  })();
  return {
    counts,
    stop: async () => {
      isOn = false;
      await running;
      lie(undefined);
      await devnet.control("devnet_setBaseFee", {});
      await devnet.heal();
      for (const one of ["main", "second"] as const)
        await devnet.control("devnet_setConditions", { node: one, conditions: {} });
    },
  };
}

interface Call {
  method: string;
  params?: unknown[];
}

function isHead({ method, params }: Call): boolean {
  return method === "eth_getBlockByNumber" && params?.[0] === "latest";
}

/** Every block that has no transactions in the answer is a thousand blocks further, and unknown to all nodes. */
function raiseHead(text: string): string {
  return text.replace(/"hash":"0x[0-9a-f]{4}/, `"hash":"0xdead`).replace(/"number":"0x/, '"number":"0x1');
}
