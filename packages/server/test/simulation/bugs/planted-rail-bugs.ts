import { type PlantedBug, withRecorder, withUnit } from "./planted-bug.js";

/** What people get wrong when they follow a network that takes several steps. */
export const plantedRailBugs: readonly PlantedBug[] = [
  {
    name: "a payment that was broadcast is cancelled at once",
    firstSeed: 60,
    breaks: "funds are held until the network has decided",
    disguisePorts: withUnit((unit) => ({
      // Taken for one that no rail has begun, and written as what it was.
      claimPayment: async (key) => {
        const claimed = await unit.claimPayment(key);
        return claimed?.state === "broadcast"
          ? { ...claimed, state: "awaiting_approval", feeHold: null }
          : claimed;
      },
      write: (settlements, balances) =>
        unit.write(
          settlements.map((one) =>
            one.transaction.state === "awaiting_approval"
              ? { ...one, transaction: { ...one.transaction, state: "broadcast" } }
              : one,
          ),
          balances,
        ),
    })),
  },
  {
    name: "the fee of a payment that failed is not posted",
    breaks: "a failure can still cost its fee",
    disguisePorts: withRecorder((recorder) => ({
      recordEvents: (network, given) =>
        recorder.recordEvents(
          network,
          given.map((one) =>
            one.event.kind === "fail" ? { ...one, event: { ...one.event, fee: null } } : one,
          ),
        ),
    })),
  },
  {
    name: "the first block is taken for final",
    breaks: "what was reported as final stays so",
    disguisePorts: (ports) => ({
      ...ports,
      disguiseNetwork: (network) => ({
        ...network,
        statusOf: (hash) => {
          const status = network.statusOf(hash);
          return status.kind === "included" ? { ...status, kind: "final", outcome: "success" } : status;
        },
      }),
    }),
  },
  {
    name: "an event of the network is recorded whatever version it was seen at",
    breaks: "nothing is recorded twice",
    disguisePorts: withRecorder((recorder) => ({
      recordEvents: (network, events) =>
        recorder.recordEvents(
          network,
          events.map(({ version: _, ...event }) => event),
        ),
    })),
  },
  {
    name: "a deposit that is seen again is another one",
    breaks: "a deposit is credited once",
    disguisePorts: (ports) => {
      let ordinal = 0;
      return withRecorder((recorder) => ({
        recordDeposits: (network, deposits) =>
          recorder.recordDeposits(
            network,
            deposits.map((deposit) => ({ ...deposit, ordinal: ordinal++ })),
          ),
      }))(ports);
    },
  },
];
