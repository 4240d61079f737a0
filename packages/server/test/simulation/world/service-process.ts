import { compilePolicy, createTimeZones, createUuidV7Source } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { createEventLister, createEventPresenter } from "../../../src/app/events/present-events.js";
import { createRails } from "../../../src/app/rails/rail.js";
import { createRailRecorder } from "../../../src/app/rails/record-rail-events.js";
import { createAcceptQueue } from "../../../src/app/transactions/accept-queue.js";
import { createTransactionCanceller } from "../../../src/app/transactions/cancel-transaction.js";
import { createChangeHub } from "../../../src/app/transactions/change-hub.js";
import { createTransactionCreator } from "../../../src/app/transactions/create-transaction.js";
import { createFinishedTransactions } from "../../../src/app/transactions/finished-transactions.js";
import { presentTransaction } from "../../../src/app/transactions/present-transaction.js";
import { createTransactionReader } from "../../../src/app/transactions/read-transaction.js";
import { createTransactionShower } from "../../../src/app/transactions/show-transaction.js";
import { createWalletCreator } from "../../../src/app/wallets/create-wallet.js";
import { createWalletPresenter } from "../../../src/app/wallets/present-wallet.js";
import { createFreezer } from "../../../src/app/wallets/set-frozen.js";
import { createWalletDirectory } from "../../../src/app/wallets/wallet-directory.js";
import { createEngine } from "../../../src/engine/engine.js";
import { createBatchSettler } from "../../../src/engine/settle-batch.js";
import { bookRail } from "../../../src/rails/book/book-rail.js";
import { createDatabaseClock, skewLimits } from "../../../src/runtime/database/database-clock.js";
import type { Timers } from "../../../src/runtime/loops/timers.js";
import type { SteppingNetwork } from "../../harness/rails/stepping-network.js";
import { createSteppingDriver, steppingRail } from "../../harness/rails/stepping-rail.js";
import { DatabaseGone } from "../database/database-faults.js";
import type { Answer, Request } from "./exchange.js";
import type { Ports } from "./ports.js";
import { answer, explain, isInjected } from "./present-answers.js";
import type { Random } from "./random.js";
import type { Actor, Scheduler } from "./scheduler.js";
import { simulatedAssets } from "./simulated-assets.js";
import { policyOf } from "./tenant-policy.js";

/** One process of the service: the real use cases and the real engine, with the simulated world where HTTP and SQL would be. */
export interface ServiceProcess {
  actor: Actor;
  isStarted: () => boolean;
  /** Whether it knows which database it has. */
  hasNoticed: () => boolean;
  handle: (tenantId: string, request: Request) => Promise<Answer>;
  /** All that it had in memory is gone, and clients that wait for an answer get none. */
  kill: () => void;
}

export interface ServiceProcessDeps {
  actor: Actor;
  ports: Ports;
  network: SteppingNetwork;
  scheduler: Scheduler;
  random: Random;
  /** The clock of its machine, which may be wrong. */
  wallMs: () => number;
  transactionsMax: number | undefined;
  /** How often something waits before it is stored. */
  queues: number;
  hasNoticed: () => boolean;
  /** Told of errors that nothing in the world has caused. */
  onBroken: (error: unknown) => void;
}

const clientId = "00000000-0000-7000-8000-00000000c11e";

/** As often as a busy run has minutes. */
const measureEveryMs = 200;
const startAgainMs = 50;

export function createServiceProcess(deps: ServiceProcessDeps): ServiceProcess {
  const { actor, scheduler } = deps;
  const { clock, handle, startWorkers } = composeUseCases(deps);
  let isStarted = false;
  const unanswered = new Set<(answer: Answer) => void>();

  /** Like `measureAtStart`. A process that does not start is started again. */
  async function start(): Promise<void> {
    const reading = await clock.measure().catch(() => undefined);
    if (reading === undefined || Math.abs(reading.skewMs) >= skewLimits.refuseMs)
      return void scheduler.after(actor, startAgainMs, "is started again", () => void start());
    isStarted = true;
    clock.start();
    startWorkers();
  }
  void start();

  return {
    actor,
    isStarted: () => isStarted,
    hasNoticed: deps.hasNoticed,
    handle: (tenantId, request) =>
      new Promise((resolve) => {
        unanswered.add(resolve);
        void scheduler
          .turn(actor, `handles ${request.kind}`)
          .then(() => (isStarted ? handle(tenantId, request) : starting))
          .catch((error: unknown) => explain(error, deps.onBroken))
          .then((answer) => {
            unanswered.delete(resolve);
            resolve(answer);
          });
      }),
    kill: () => {
      actor.isAlive = false;
      for (const resolve of unanswered) resolve("lost");
    },
  };
}

const starting: Answer = { status: 503, code: "UNAVAILABLE" };

/** The wiring of `compose-transactions.ts`. */
function composeUseCases(deps: ServiceProcessDeps) {
  const { actor, ports, network, scheduler, random, wallMs, onBroken } = deps;
  const timers: Timers = {
    soon: (work) => {
      const waitMs = random.chance(deps.queues) ? random.between(1, 60) : 0;
      scheduler.after(actor, waitMs, "ends its turn", work);
    },
    after: (delayMs, work) => scheduler.after(actor, delayMs, "timer", work),
  };
  const monotonicMs = scheduler.now;
  const clock = ports.disguiseClock(
    createDatabaseClock({
      ...{ wallMs, monotonicMs, measureEveryMs, timers },
      readDatabaseTime: () => ports.readDatabaseTime(monotonicMs),
      onReading: () => undefined,
      onError: () => undefined,
    }),
  );
  const { now } = clock;
  const assets = simulatedAssets;
  const newUuid = createUuidV7Source({ now: clock.measuredNow, randomBytes: random.bytes });
  const changes = createChangeHub(timers);
  const read = createTransactionReader({ store: ports.transactions, changes, monotonicMs });
  const finished = createFinishedTransactions();
  // The tables for all wallets that a real process keeps took half of the time of a run.
  const walletDirectory = createWalletDirectory(ports.wallets, 1000);
  ports.identity.subscribe(() => {
    walletDirectory.clear();
    finished.clear();
  });
  const show = createTransactionShower({ read, finished, database: ports });
  const rails = createRails([bookRail, steppingRail]);
  const world = {
    assets,
    networks: rails.networks,
    markets: new Set<string>(),
    timeZones: createTimeZones(),
  };
  const { policy } = compilePolicy(policyOf(deps.transactionsMax), world);
  if (policy === undefined) throw new Error("the policy of a new tenant does not compile");
  const active = { version: 0, policy, guards: [] };
  const cached = { peek: () => active, load: async () => active };
  const loadAll = async (tenantIds: readonly string[]) => new Map(tenantIds.map((id) => [id, active]));
  const policies = { ...cached, within: () => ({ peek: cached.peek, loadAll }) };
  const report = (error: unknown) => void (isInjected(error) || onBroken(error));
  const settleBatch = createBatchSettler({
    settlements: ports.settlements,
    rails,
    policies,
    isUnavailable: (error) => error instanceof DatabaseGone,
    isTimeout: () => false,
    isLockTimeout: () => false,
    onFailure: (_, error) => report(error),
    onTampered: ({ id }) => report(new Error(`${id} was changed in the database`)),
    now,
  });
  const recorder = createRailRecorder({
    settlements: ports.settlements,
    assets,
    onChanged: changes.publish,
    newUuid,
    now,
  });
  const driver = createSteppingDriver(
    { assets, ...ports.railTransactions, ...ports.disguiseRecorder(recorder), onError: report },
    {
      network: ports.disguiseNetwork(network),
      timers,
      lookEveryMs: 100,
      reachNetwork: () => scheduler.turn(actor, "reaches the network"),
    },
  );
  const engine = createEngine({
    settleBatch,
    findWork: ports.settlements.findWork,
    wallets: ports.wallets,
    onChanged: (settled) => {
      changes.publish(settled.map(({ transaction }) => transaction.id));
      driver.wake();
    },
    onError: report,
    onStalled: report,
    // Nothing is carried between simulated processes.
    isNotified: () => false,
    now,
    monotonicMs,
    timers,
  });
  const queue = createAcceptQueue({
    store: ports.transactions,
    isUnavailable: (error) => error instanceof DatabaseGone,
    onAccepted: engine.wake,
    monotonicMs,
    timers,
  });
  const create = ports.disguiseCreator(
    createTransactionCreator({
      assets,
      wallets: walletDirectory,
      rails,
      policies,
      allowList: { isListed: async () => false },
      queue,
      store: ports.transactions,
      newUuid,
      generation: ports.identity.generation,
    }),
  );
  const stopInAnyCase = <T>(_: unknown, { act }: { act: () => Promise<T> }) => act();
  const audit = { record: () => undefined, recordAct: () => undefined };
  const cancel = createTransactionCanceller({
    ...{ settlements: ports.settlements, rails, read, changes, stopInAnyCase, audit, now },
    onRequested: () => driver.wake(),
  });
  const createWallet = createWalletCreator({
    ...{ store: ports.wallets, rails, newUuid, now },
    onCreated: () => engine.wake("any"),
  });
  // There are no markets in the simulated world.
  const setFrozen = createFreezer({
    ...{ store: ports.wallets, wallets: walletDirectory, onFrozen: () => undefined },
    ...{ recorder: audit, stopInAnyCase, now, cancelOrders: async () => "none" as const },
  });
  const presentWallet = createWalletPresenter(assets, []);
  const listEvents = createEventLister(
    ports.events,
    createEventPresenter({
      readTransactions: ports.transactions.readTransactions,
      wallets: ports.wallets,
      // Nobody trades in this world.
      orders: { readAskedOrders: async () => [] },
      presentOrder: () => {
        throw new Error("there are no orders");
      },
      changeRequests: { readMany: async () => [] },
    }),
  );
  const startWorkers = () => {
    engine.start();
    driver.start();
  };

  const handle = async (tenantId: string, request: Request): Promise<Answer> => {
    const principal = { tenantId, clientId, tokenId: clientId, scopes: new Set<never>() };
    const origin = { by: "client", principal, requestId: "", address: "" } as const;
    const idOf = (prefix: "tx" | "wlt", text: string) => readId(prefix, text) ?? "";
    switch (request.kind) {
      case "create":
        return answer(202, await create(principal, request.key, request.body), ({ transaction }) =>
          presentTransaction(transaction),
        );
      case "cancel":
        return answer(202, await cancel(origin, idOf("tx", request.id)), presentTransaction);
      case "read":
        return answer(200, await show(tenantId, idOf("tx", request.id), request.waitFor), (shown) => shown);
      case "list": {
        const before = request.beforeId === undefined ? undefined : idOf("tx", request.beforeId);
        const found = await ports.transactions.listTransactions(tenantId, {}, request.limit, before);
        return answer(200, found, ({ items }) => items.map(presentTransaction));
      }
      case "events":
        return answer(200, await listEvents(tenantId, request.after, request.limit), (list) => list);
      case "create_wallet":
        return answer(202, await createWallet(origin, request.body, request.key), ({ wallet }) =>
          presentWallet({ ...wallet, balances: [], sending: null }),
        );
      case "freeze": {
        const operator = { by: "operator", tenantId } as const;
        return answer(
          200,
          await setFrozen(operator, idOf("wlt", request.walletId), request.frozen),
          presentWallet,
        );
      }
      case "read_wallet": {
        const found = await ports.wallets.readWallet(tenantId, idOf("wlt", request.walletId));
        return answer(200, found ?? { refused: "WALLET_NOT_FOUND" as const }, presentWallet);
      }
      case "list_wallets":
        return answer(200, await ports.wallets.listWallets(tenantId, {}, 1000, undefined), ({ items }) =>
          items.map(presentWallet),
        );
    }
  };
  return { clock, handle, startWorkers };
}
