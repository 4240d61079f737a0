import type { Metric, Sample } from "../../runtime/metric.js";
import type { ChainStatus, RecordedNetwork } from "../chain/chain-status.js";

export interface ChainMetricsDeps {
  /** Undefined if there are no chains. */
  readStatus: () => Promise<ChainStatus | undefined>;
  /** Whether this process drives the network and could not compare its books. */
  isUncompared: (network: string) => boolean;
  /** For each node of a network that this process follows, in the order of the configuration, whether it is behind, or contradicts the others. */
  nodesOf: (
    network: string,
  ) => { readLagging: () => readonly boolean[]; readOdd: () => readonly boolean[] } | undefined;
  /** How many payments on a network no node has estimated for a minute; undefined if this process does not know. */
  countUnestimated: (network: string) => number | undefined;
  now: () => number;
}

/** How the chains and the signer are doing. Every process reports them. While the database does not answer they have no values. */
export function chainMetrics({
  readStatus,
  isUncompared,
  nodesOf,
  countUnestimated,
  now,
}: ChainMetricsDeps): Metric[] {
  const gauge = (
    name: string,
    help: string,
    samplesOf: (status: ChainStatus) => readonly Sample[],
  ): Metric => ({
    name,
    help,
    kind: "gauge",
    read: async () => {
      const status = await readStatus().catch(() => undefined);
      return status === undefined ? [] : samplesOf(status);
    },
  });
  const byNetwork =
    (pick: (recorded: RecordedNetwork) => number | undefined) =>
    ({ networks }: ChainStatus): Sample[] =>
      networks.flatMap(({ network: { network }, recorded }) => {
        const value = recorded === undefined ? undefined : pick(recorded);
        return value === undefined ? [] : [{ labels: { network }, value }];
      });
  const byNode =
    (read: (network: string) => readonly boolean[] | undefined) =>
    ({ networks }: ChainStatus): Sample[] =>
      networks.flatMap(({ network: { network } }) =>
        (read(network) ?? []).map((value, index) => ({
          labels: { network, node: String(index + 1) },
          value: Number(value),
        })),
      );
  return [
    gauge("bursar_signer_up", "1 while the signer answers and is ready to sign.", ({ signer }) => [
      { labels: {}, value: Number(signer.isReady) },
    ]),
    gauge(
      "bursar_network_halted",
      "1 while a network is halted and waits for `bursar network resume`.",
      byNetwork(({ state }) => Number(state === "halted")),
    ),
    gauge(
      "bursar_network_waiting",
      "1 while no process follows a network, so that nothing is sent or credited on it.",
      byNetwork(({ state }) => Number(state === "waiting")),
    ),
    gauge(
      "bursar_network_stalled",
      "1 while nothing more of a network is settled, although a process follows it: `GET /v1/networks` says since when and why.",
      byNetwork(({ state }) => Number(state === "stalled")),
    ),
    gauge(
      "bursar_network_halted_wallets",
      "The number of wallets of a network that are halted and wait for `bursar wallet resume`, up to 1000.",
      byNetwork(({ haltedWallets }) => haltedWallets),
    ),
    gauge(
      "bursar_network_doubts",
      "How often the signer has shown, with a wallet of a network, that the database was restored from a backup, when nothing had noticed it. Payments on all networks wait then until their wallets are compared with the signer.",
      byNetwork(({ doubts }) => doubts),
    ),
    gauge(
      "bursar_network_unowned_rows",
      "The number of payments and deposits of a network that are not settled because their wallet does not exist in the database. `bursar audit chain` lists them.",
      byNetwork(({ unownedRows }) => unownedRows),
    ),
    gauge(
      "bursar_network_uncompared",
      "1 while this process follows a network and no node gives the balances of its final block, so that they are not compared with the ledger.",
      byNetwork(({ network }) => Number(isUncompared(network))),
    ),
    gauge(
      "bursar_network_node_lagging",
      "1 while a node of a network, by its position in `rpc_urls`, has not reached for a minute what others call final, or does not answer. Only the process that follows the network reports it.",
      byNode((network) => nodesOf(network)?.readLagging()),
    ),
    gauge(
      "bursar_network_node_disagreeing",
      "1 if a node of a network, by its position in `rpc_urls`, has contradicted the larger group of its nodes in the last ten minutes. The network goes on without it. Only the process that follows the network reports it.",
      byNode((network) => nodesOf(network)?.readOdd()),
    ),
    gauge(
      "bursar_network_unestimated_payments",
      "The number of payments of a network that have no nonce because no node has estimated them for a minute. The process that follows the network reports them.",
      byNetwork(({ network }) => countUnestimated(network)),
    ),
    gauge(
      "bursar_network_head_block",
      "The number of the last block of a network that was followed.",
      byNetwork(({ headNumber }) => headNumber),
    ),
    gauge(
      "bursar_network_final_block",
      "The number of the last final block of a network.",
      byNetwork(({ finalNumber }) => finalNumber),
    ),
    gauge(
      "bursar_network_settled_block",
      "The number of the last block of a network whose payments and deposits have ended.",
      byNetwork(({ settledNumber }) => settledNumber),
    ),
    gauge(
      "bursar_network_seen_seconds",
      "The time since the last new block of a network was seen.",
      byNetwork(({ seenAt }) => (seenAt === null ? undefined : Math.max(0, now() - seenAt.getTime()) / 1000)),
    ),
    gauge(
      "bursar_network_base_fee_wei",
      "The base fee of the last block of a network, in wei for each unit of gas.",
      byNetwork(({ baseFee }) => (baseFee === null ? undefined : Number(baseFee))),
    ),
    gauge(
      "bursar_network_fee_cap_wei",
      "What payments of a network offer for each unit of gas at most, as configured. While the base fee is above it, no block takes them.",
      ({ networks }) =>
        networks.map(({ network: { network, feeCap } }) => ({ labels: { network }, value: Number(feeCap) })),
    ),
  ];
}
