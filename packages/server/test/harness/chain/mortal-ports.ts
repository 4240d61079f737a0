import type { ChainNode } from "../../../src/app/chain/chain-node.js";
import type { ChainStore, ChainUnit } from "../../../src/app/chain/chain-store.js";
import type { Signer } from "../../../src/app/chain/signer.js";
import { nodeTimers, type Timers } from "../../../src/runtime/loops/timers.js";

/** A step of the driver: a call of a node or of the signer, or the SQL transaction that writes something. */
export type NamedStep = keyof ChainNode | "sign" | keyof ChainUnit;

export interface Death {
  step: NamedStep;
  /** Before the step has an effect, or after it has and before the driver learns of it. */
  when: "before" | "after";
}

/** The process is dead. */
class Killed extends Error {}

export interface MortalPorts {
  node: ChainNode;
  signer: Pick<Signer, "sign">;
  store: ChainStore;
  timers: Pick<Timers, "after">;
  isDead: () => boolean;
  /** Dies at once. */
  die: () => void;
}

/**
 * Ports of a driver that dies at a step: from then on nothing that it does has an effect, as after SIGKILL. What it had in memory is gone, and
 * its lease is left to expire.
 */
export function createMortalPorts(
  { node, signer, store }: { node: ChainNode; signer: Pick<Signer, "sign">; store: ChainStore },
  death: Death | undefined,
): MortalPorts {
  let isDead = false;
  const die = (): never => {
    isDead = true;
    throw new Killed("the process was killed");
  };
  const assertAlive = () => {
    if (isDead) die();
  };
  const isTime = (step: string, when: Death["when"]) => death?.step === step && death.when === when;
  const guard = <Port extends object>(port: Port): Port =>
    Object.fromEntries(
      Object.entries(port).map(([step, method]) => [
        step,
        typeof method !== "function"
          ? method
          : async (...given: unknown[]) => {
              assertAlive();
              if (isTime(step, "before")) die();
              const answer = await method(...given);
              assertAlive();
              if (isTime(step, "after")) die();
              return answer;
            },
      ]),
    ) as Port;
  const reads = guard(store);
  return {
    node: guard(node),
    signer: guard({ sign: signer.sign }),
    store: {
      ...reads,
      leases: guard(store.leases),
      unitOfWork: async (position, work) => {
        assertAlive();
        let steps = new Set<string>();
        const result = await store.unitOfWork(position, async (unit) => {
          steps = new Set();
          const noted = Object.fromEntries(
            Object.entries(unit).map(([step, method]) => [
              step,
              (...given: readonly unknown[]) => {
                steps.add(step);
                return (method as (...args: readonly unknown[]) => unknown)(...given);
              },
            ]),
          ) as unknown as ChainUnit;
          const done = await work(noted);
          assertAlive();
          if ([...steps].some((step) => isTime(step, "before"))) die();
          return done;
        });
        if ([...steps].some((step) => isTime(step, "after"))) die();
        return result;
      },
    },
    timers: { after: (delayMs, work) => nodeTimers.after(delayMs, () => (isDead ? undefined : work())) },
    isDead: () => isDead,
    die: () => {
      isDead = true;
    },
  };
}
