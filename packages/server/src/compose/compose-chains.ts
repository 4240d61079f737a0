import { randomUUID } from "node:crypto";
import { showId } from "@bursar/protocol";
import type { Logger } from "pino";
import { createWalletActivator } from "../app/chain/activate-wallets.js";
import { chainChecks } from "../app/chain/chain-checks.js";
import type { ChainNetwork } from "../app/chain/chain-network.js";
import { createChainStatusReader } from "../app/chain/chain-status.js";
import type { ChainUseCases } from "../app/chain/chain-use-cases.js";
import { presentNetwork } from "../app/chain/present-network.js";
import { type Signer, SignerUnavailableError } from "../app/chain/signer.js";
import { findLowerLimits } from "../app/chain/signer-limits.js";
import { chainMetrics } from "../app/metrics/chain-metrics.js";
import type { RailDriver, RailPart } from "../app/rails/rail.js";
import type { RecordRailEventsDeps } from "../app/rails/record-rail-events.js";
import { ConfigError } from "../config/setting.js";
import { showAddress } from "../rails/evm/address/evm-address.js";
import { auditChain, type ChainAudit } from "../rails/evm/audit-chain.js";
import { createEvmDriver, type EvmDriver } from "../rails/evm/driver/evm-driver.js";
import { createEvmRail } from "../rails/evm/evm-rail.js";
import { createEvmNode, type EvmNode } from "../rails/evm/node/evm-node.js";
import { createNetworkErrorReporter } from "../rails/evm/report-network-errors.js";
import { createSignerClient, type SignerClient } from "../rails/evm/signer-client.js";
import { verifySigned } from "../rails/evm/transaction/verify-signed.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { Metric } from "../runtime/metric.js";
import type { ChainChecks } from "../runtime/readiness.js";
import { createChainStore } from "../store/chain/chain-store.js";
import { readNetworks } from "../store/chain/read-networks.js";
import { readSettledBooks } from "../store/chain/settled-books.js";
import { listUnowned } from "../store/chain/unowned-rows.js";
import { createChainWalletActivation } from "../store/chain/wallets/chain-wallets.js";
import { hasChainWallets } from "../store/chain/wallets/has-wallets.js";
import { type Database, isDatabaseUnavailable } from "../store/core/database.js";
import { createEventLog } from "../store/events/events.js";
import type { ObserveUnit } from "../store/transactions/write-settlements.js";
import { createChainDemand } from "./chains/chain-demand.js";
import { createLagReporter, createNetworkErrorLog, createOddReporter } from "./chains/network-error-log.js";
import { createNodeProbes } from "./chains/node-probes.js";
import { createDoubtReporter, createShortageReporter } from "./chains/report-shortages.js";
import type { ComposeOptions } from "./compose.js";

/** What the drivers share with the other transactions. */
export interface ChainServices extends Pick<RecordRailEventsDeps, "assets" | "onChanged"> {
  observeUnit: ObserveUnit;
}

/** The configured chains, and the signer that has the keys of their wallets. */
export interface ChainParts {
  rails: readonly RailPart[];
  /** One for each chain. They are woken when there is something to do. */
  createDrivers: (services: ChainServices) => readonly RailDriver[];
  useCases: Pick<ChainUseCases, "listNetworks">;
  metrics: readonly Metric[];
  /** Undefined if there are no chains, and while those of the sandbox are not in use. */
  checkChains: () => Promise<ChainChecks | undefined>;
  /**
   * Compares each chain with what is configured; throws if they differ. A chain that does not answer is left to its driver. The chains of
   * the sandbox are only looked at to see whether they are in use.
   */
  probe: () => Promise<void>;
  /** Compares the books of all wallets on chains with their nodes. */
  audit: () => Promise<(ChainAudit & { network: string })[]>;
  start: () => void;
  stop: () => Promise<void>;
}

/** A signer that has not answered by then is shown as down; what it signs may take longer. */
const probeTimeoutMs = 2000;

const monotonicMs = () => performance.now();

const noChains: ChainParts = {
  rails: [],
  createDrivers: () => [],
  useCases: { listNetworks: async () => [] },
  // Without values: the dashboard and the alerts know them all the same.
  metrics: chainMetrics({
    readStatus: async () => undefined,
    isUncompared: () => false,
    ...{ countUnestimated: () => undefined, nodesOf: () => undefined },
    now: () => 0,
  }),
  checkChains: async () => undefined,
  probe: async () => undefined,
  audit: async () => [],
  start: () => undefined,
  stop: async () => undefined,
};

export function composeChains(options: ComposeOptions, networks: readonly ChainNetwork[]): ChainParts {
  if (networks.length === 0) return noChains;
  const { database, settings, wakeUps, log, now } = options;
  if (settings.signer_socket === undefined)
    throw new ConfigError(
      "signer_socket (environment BURSAR_SIGNER_SOCKET) is not set. Set it to the socket of `bursar-signer`, which has the keys of wallets on chains.",
    );
  const socketPath = settings.signer_socket;
  const signer = createSignerClient({ socketPath });
  // The seed must not be sealed with a key that the service has.
  const forbiddenKeyIds = options.sealing.keyring.all.map(({ id }) => id);
  const probedSigner = createSignerClient({ socketPath, forbiddenKeyIds, timeoutMs: probeTimeoutMs });
  const chains: Chain[] = networks.map((network) => ({
    network,
    node: createEvmNode({
      ...{ network, timers: nodeTimers, monotonicMs, random: Math.random },
      onLagging: createLagReporter(log, network.network),
      onOdd: createOddReporter(log, network.network),
    }),
  }));
  const names = networks.map(({ network }) => network);
  const probes = createNodeProbes(database, log, nodeTimers);
  const demand = createChainDemand(options.chainsOnDemand !== true);
  /** The networks whose books this process could not compare when it last tried. */
  const uncompared = new Set<string>();
  const unestimated = new Map<string, EvmDriver["countUnestimated"]>();
  const activator = createWalletActivator({
    listFollowed: async () => (await readNetworks(database, names)).map(({ network }) => network),
    store: createChainWalletActivation(database, createEventLog(wakeUps)),
    signer,
    showAddress,
    isUnavailable: (error) => error instanceof SignerUnavailableError || isDatabaseUnavailable(error),
    onFailure: ({ tenantId, id }, error) =>
      log.error(
        { err: error, tenant_id: showId("tnt", tenantId), wallet_id: showId("wlt", id) },
        "A wallet could not be given an address. It is tried again later.",
      ),
    onError: (error) => log.warn({ err: error }, "New wallets of chains have no address yet. It is retried."),
    now,
    timers: nodeTimers,
  });
  wakeUps.subscribe("rails", activator.wake);
  const readStatus = createChainStatusReader({
    networks,
    readNetworks: (asked) => readNetworks(database, asked),
    signer: probedSigner,
    monotonicMs,
  });
  const readStatusInUse = async () => (demand.isNeeded() ? await readStatus() : undefined);
  const lookForWallets = async () => {
    if (!demand.isNeeded() && (await hasChainWallets(database, names))) demand.need();
  };
  // If the database does not answer, the channel of these notifications opens again when it does, which is a notification too.
  if (!demand.isNeeded())
    wakeUps.subscribe("rails", () => {
      lookForWallets().catch((error: unknown) =>
        log.debug({ err: error }, "wallets could not be looked for"),
      );
    });
  const driven: Driven = { chains, signer, uncompared, unestimated, onRegistered: activator.wake };
  return {
    rails: chains.map(({ network }) => ({ rail: createEvmRail(network) })),
    createDrivers: (services) =>
      createDrivers(options, driven, services).map((driver, index) => ({
        ...driver,
        start: () =>
          demand.whenNeeded(() => {
            void compareLimits(probedSigner, (chains[index] as Chain).network, log);
            driver.start();
          }),
      })),
    useCases: {
      listNetworks: async () => {
        demand.need();
        return (await readStatus()).networks.map(presentNetwork);
      },
    },
    metrics: chainMetrics({
      readStatus: readStatusInUse,
      isUncompared: (network) => uncompared.has(network),
      countUnestimated: (network) => unestimated.get(network)?.(),
      nodesOf: (network) => chains.find(({ node }) => node.network === network)?.node,
      now,
    }),
    checkChains: async () => {
      const status = await readStatusInUse();
      return status === undefined ? undefined : chainChecks(status);
    },
    probe: async () => {
      if (demand.isNeeded()) await Promise.all(chains.map(({ node }) => probes.probe(node)));
      else await lookForWallets();
    },
    audit: () => Promise.all(chains.map((chain) => audit(database, chain))),
    start: activator.start,
    stop: async () => {
      probes.stop();
      await activator.stop();
      await Promise.all(chains.map(({ node }) => node.close()));
      signer.close();
      probedSigner.close();
    },
  };
}

const leaseMs = 10_000;
const pollEveryMs = 1000;

interface Chain {
  network: ChainNetwork;
  node: EvmNode;
}

interface Driven {
  chains: readonly Chain[];
  signer: Signer;
  uncompared: Set<string>;
  unestimated: Map<string, EvmDriver["countUnestimated"]>;
  /** A network was reached for the first time. */
  onRegistered: () => void;
}

function createDrivers(
  { database, wakeUps, log, newUuid, now }: ComposeOptions,
  { chains, signer, uncompared, unestimated, onRegistered }: Driven,
  { observeUnit, ...services }: ChainServices,
): RailDriver[] {
  const stored = createChainStore(database, createEventLog(wakeUps), services.assets, observeUnit);
  const store: typeof stored = {
    ...stored,
    register: async (...network) => {
      await stored.register(...network);
      onRegistered();
    },
  };
  const recorder = { ...services, newUuid, now };
  const holder = randomUUID();
  const drivers = chains.map(({ network, node }) =>
    createEvmDriver({
      ...{ network, node, signer, store, recorder, verifySigned, holder, leaseMs, pollEveryMs },
      isUnavailable: isDatabaseUnavailable,
      onError: createNetworkErrorReporter(createNetworkErrorLog(log, network.network), monotonicMs),
      onLost: () => {
        uncompared.delete(network.network);
        log.warn({ network: network.network }, "another process has taken over the network");
      },
      onCompared: (failure) => {
        if (failure === undefined) uncompared.delete(network.network);
        else {
          uncompared.add(network.network);
          log.error(
            { err: failure, network: network.network },
            "The balances of wallets could not be compared with the chain. It is retried, less and less often.",
          );
        }
      },
      onShort: createShortageReporter(log, network.network),
      onDoubted: createDoubtReporter(log, network.network),
      monotonicMs,
      timers: nodeTimers,
    }),
  );
  for (const [index, driver] of drivers.entries())
    unestimated.set((chains[index] as Chain).network.network, driver.countUnestimated);
  database.identity.subscribe(() => {
    for (const driver of drivers) driver.reset();
  });
  wakeUps.subscribe("rails", () => {
    for (const driver of drivers) driver.wake();
  });
  return drivers;
}

async function audit(
  database: Database,
  { network, node }: Chain,
): Promise<ChainAudit & { network: string }> {
  const name = network.network;
  const found = await auditChain(network, node, {
    readPage: (after, limit) => readSettledBooks(database, name, after, limit),
    listUnowned: () => listUnowned(database, name),
  });
  return { network: name, ...found };
}

/** A warning only: the signer can be started again with other limits. If it does not answer, the driver finds out. */
async function compareLimits(signer: SignerClient, network: ChainNetwork, log: Logger): Promise<void> {
  const limits = await signer.readLimits(network.network);
  for (const fault of limits === undefined ? [] : findLowerLimits(network, limits)) log.warn(fault);
}
