/** Where the driver of a chain can be interrupted: a request to a node or to the signer, or an SQL transaction that writes something. */
export const steps = [
  ...(["begin", "heads", "block", "receipts", "estimate", "market", "nonces", "assign", "sign"] as const),
  ...(["storeAttempts", "send", "includePayments", "putDeposits", "excludePayments", "settle"] as const),
  ...(["balances", "writeHoldings"] as const),
] as const;
export type Step = (typeof steps)[number];

const methods: Readonly<Record<string, Step>> = {
  eth_getBlockByHash: "block",
  eth_getTransactionReceipt: "receipts",
  eth_getBlockReceipts: "receipts",
  eth_estimateGas: "estimate",
  eth_feeHistory: "market",
  eth_getTransactionCount: "nonces",
  eth_sendRawTransaction: "send",
  eth_getBalance: "balances",
};

/** The step that a call of a node belongs to. */
export function stepOfCall({ method, params }: { method: string; params?: unknown[] }): Step | undefined {
  if (method === "eth_getBlockByNumber") return params?.[0] === "latest" ? "heads" : undefined;
  return methods[method];
}

const statements: readonly (readonly [part: string, step: Step])[] = [
  ["INSERT INTO chain_payments", "begin"],
  ["stage = 'assigned', nonce", "assign"],
  ["INSERT INTO chain_attempts", "storeAttempts"],
  ["stage = 'included', included_hash", "includePayments"],
  ["included_hash = NULL", "excludePayments"],
  ["INSERT INTO chain_deposits", "putDeposits"],
  ["SET settled_number", "settle"],
  ["SET compared_number = $", "writeHoldings"],
];

/** The step whose SQL transaction has this statement. */
export function stepOfStatement(text: string): Step | undefined {
  return statements.find(([part]) => text.includes(part))?.[1];
}

export type Victim = "service" | "signer" | "postgres";
export const victims: readonly Victim[] = ["service", "signer", "postgres"];

export interface Death {
  step: Step;
  /** Before the step has an effect, or after it has and before its answer arrives. */
  when: "before" | "after";
  victim: Victim;
}

/** What stands between two processes reports what passes, and a process is killed at that very moment. */
export interface StepGate {
  /** Resolves when the death has happened. */
  arm: (death: Death) => Promise<void>;
  /** The step that a death waits for, at this moment. */
  awaited: (when: Death["when"]) => Step | undefined;
  /** Kills the victim if it is time. Returns whether what has arrived must not be passed on. */
  reach: (step: Step, when: Death["when"]) => boolean;
}

/** Which process carries a step out, besides the nodes. */
function carriedOutBy(step: Step): Victim | undefined {
  if (step === "sign") return "signer";
  return statements.some(([, one]) => one === step) ? "postgres" : undefined;
}

/** `kill` must have sent the signal when it returns. */
export function createStepGate(kill: (victim: Victim) => void): StepGate {
  let armed: { death: Death; resolve: () => void } | undefined;
  return {
    arm: (death) =>
      new Promise((resolve) => {
        armed = { death, resolve };
      }),
    awaited: (when) => (armed?.death.when === when ? armed.death.step : undefined),
    reach: (step, when) => {
      if (armed === undefined || armed.death.step !== step || armed.death.when !== when) return false;
      const { death, resolve } = armed;
      armed = undefined;
      kill(death.victim);
      resolve();
      return death.victim === "service" || death.victim === carriedOutBy(step);
    },
  };
}
