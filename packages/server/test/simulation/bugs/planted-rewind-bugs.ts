import { type PlantedBug, withAccept, withRecorder } from "./planted-bug.js";

/** What people get wrong when a database goes back in time under running processes. */
export const plantedRewindBugs: readonly PlantedBug[] = [
  {
    name: "memory outlives the database that it was read from",
    firstSeed: 15,
    breaks: "no process shows what the database does not have",
    needsRewind: true,
    disguisePorts: (ports) => ({
      ...ports,
      identity: { ...ports.identity, subscribe: () => () => undefined },
    }),
  },
  {
    name: "a process does not look which database is behind its connections",
    firstSeed: 15,
    breaks: "every process notices a database that went back",
    needsRewind: true,
    disguisePorts: (ports, { connectUnseen }) => ({ ...connectUnseen(), identity: ports.identity }),
  },
  {
    name: "what was checked against the database before is accepted by the one after",
    firstSeed: 1172,
    breaks: "every transaction is between wallets that exist",
    needsRewind: true,
    disguisePorts: withAccept((batch, accept) =>
      accept(batch.map(({ generation: _, ...transaction }) => transaction)),
    ),
  },
  {
    name: "a driver keeps its position on the network when the database goes back",
    firstSeed: 15,
    breaks: "what the database has lost is recorded again",
    needsRewind: true,
    disguisePorts: (ports) => {
      const recorded = new Set<string | null>();
      return withRecorder((recorder) => ({
        recordDeposits: async (network, deposits) => {
          const ids = await recorder.recordDeposits(
            network,
            deposits.filter(({ receipt }) => !recorded.has(receipt.hash)),
          );
          for (const { receipt } of deposits) recorded.add(receipt.hash);
          return ids;
        },
      }))(ports);
    },
  },
];
