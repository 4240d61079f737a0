import { join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { consoleAddressOf } from "../../app/people/console-address.js";
import type { Parts } from "../../compose/compose.js";
import { type Config, loadConfig } from "../../config/load-config.js";
import { sandboxMarkets } from "../../config/market-list.js";
import { readMasterKeys, readOrCreateMasterKeys } from "../../credentials/master-key.js";
import { findInstance } from "../../embedded/instance-lock.js";
import type { Service, ServiceOptions } from "../../main.js";
import { OperatorError } from "../../operator-error.js";
import { softwareVersion } from "../../version.js";
import { print } from "../print.js";
import { hasSandboxCredentials, readSandboxCredentials } from "../sandbox/sandbox-credentials.js";

/** In the sandbox, new destinations take effect at once, there are two markets, and no load balancer is waited for. */
const sandboxDefaults = {
  "policy.destination_delay_seconds": 0,
  "limits.drain_delay_ms": 0,
  markets: sandboxMarkets,
};

export function addDevCommand(program: Command): void {
  program
    .command("dev")
    .description("run the sandbox: a service with its own PostgreSQL, for development")
    .action(async () => {
      const config = loadConfig(process.env, sandboxDefaults);
      const { values } = config;
      refuseSecond(values.data_dir);
      const progress = showProgress();
      const { runUntilStopped } = await import("./run-until-stopped.js");
      const { seedSandbox } = await import("../sandbox/seed-sandbox.js");
      const { describeConsole } = await import("../sandbox/seed-people.js");
      const { explainMissingAsset, startSandboxChain, whyNoChain } = await import(
        "../sandbox/sandbox-chain.js"
      );
      let chainUrl: string | undefined;
      const companions: ServiceOptions["companions"] = async (log, onLost) => {
        const chain = await startSandboxChain(config, log, onLost);
        chainUrl = chain?.settings.networks[0]?.rpcUrls[0];
        return chain;
      };
      const keyring = (dataDir: string) =>
        values.master_key_file === undefined
          ? readOrCreateMasterKeys(join(dataDir, "master.key"))
          : readMasterKeys(values.master_key_file);
      let people: Awaited<ReturnType<typeof seedSandbox>> = [];
      const seed = async (url: string, parts: Parts) => {
        people = await seedSandbox(url, parts, values);
      };
      const options = {
        ...{ isSandbox: true, keyring, seed, companions },
        explainMissingAsset: (code: string) => explainMissingAsset(config, code),
      };
      try {
        await runUntilStopped(values, options, (service) => {
          clearInterval(progress);
          const chain = describeChain(chainUrl, whyNoChain(config));
          const consolePart = describeConsole(`${consoleAddressOf(service.url).url}/console`, people);
          print(banner(service, chain, consolePart, dataDirFor(config)));
        });
      } finally {
        clearInterval(progress);
      }
    });
}

const progressMs = 5000;

/** The first start creates a database, which takes long on a busy machine. */
function showProgress(): NodeJS.Timeout {
  const startedAt = performance.now();
  return setInterval(() => {
    print(`bursar: starting the sandbox, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, progressMs).unref();
}

/** Before the port is looked at, because the running sandbox has that too. */
function refuseSecond(dataDir: string): void {
  const pid = findInstance(dataDir);
  if (pid === undefined) return;
  const url = hasSandboxCredentials(dataDir) ? ` at ${readSandboxCredentials(dataDir).url}` : "";
  throw new OperatorError(
    `The sandbox in ${resolve(dataDir)} is already running${url} (process ${pid}). Use it or stop it, or start another one with other values of BURSAR_DATA_DIR and PORT.`,
  );
}

function describeChain(url: string | undefined, whyNone: string | undefined): string {
  if (url === undefined) return whyNone === undefined ? "none" : `none: ${whyNone}`;
  return `${url} (eip155:31337, with ETH.DEV and USDC.DEV; starts when it is used)`;
}

/** What another terminal must set to find this sandbox, in front of a command. */
function dataDirFor({ values, sources }: Config): string {
  if (sources.data_dir === "default") return "";
  const quoted = resolve(values.data_dir).replaceAll("'", "'\\''");
  return `BURSAR_DATA_DIR='${quoted}' `;
}

/** Printed when the sandbox is ready: the addresses, and commands to try. */
function banner({ url, dataLocation }: Service, chain: string, consolePart: string, dataDir: string): string {
  const fromHere = relative(process.cwd(), dataLocation);
  const data = fromHere.startsWith("..") ? dataLocation : fromHere;
  return `
  Bursar ${softwareVersion} is ready.

    API    ${url}
    Docs   ${url}/docs
    Data   ${data}
    Chain  ${chain}

${consolePart}

  Try, in another terminal (a token is valid for 15 minutes):

    TOKEN=$(${dataDir}./bursar token)
    curl -s ${url}/v1/transactions -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: one" \\
      -H "Content-Type: application/json" -d '{"reference": "first", "asset": "USD", "amount": "125.50"}'
    curl -s ${url}/v1/transactions -H "Authorization: Bearer $TOKEN"
    curl -s "${url}/v1/orderbook?depth=5" -H "Authorization: Bearer $TOKEN"

  docs/guides/chains.md shows how to receive and pay on the chain.
  Ctrl-C stops the service, its database and its chain.
`;
}
