import type { Command } from "commander";
import { describeAct, nilTenantId } from "../../app/audit/audit-entry.js";
import { OperatorError } from "../../operator-error.js";
import { printable } from "../../runtime/printable.js";
import { type ListedNetwork, listNetworks, resumeNetwork } from "../../store/chain/resume-chain.js";
import { print } from "../print.js";
import { withDatabase } from "./operator-database.js";

export function addNetworkCommand(program: Command): void {
  const network = program
    .command("network")
    .description("list the chains that the service follows, and resume one");
  network
    .command("list")
    .description("list the chains with their last blocks, and why one is halted")
    .action(async () => {
      for (const one of await withDatabase(({ database }) => listNetworks(database))) {
        const blocks = `head ${one.headNumber}, final ${one.finalNumber}, settled ${one.settledNumber}`;
        print(`${one.network}  ${stateOf(one).padEnd(11)}  ${blocks}`);
        if (one.haltedReason !== null)
          print(`  since ${one.haltedAt?.toISOString()}: ${printable(one.haltedReason)}`);
        else if (one.unreachableSince !== null)
          print(`  no node has answered since ${one.unreachableSince.toISOString()}`);
        if (one.haltedReason === null && one.stalledSince !== null)
          print(
            `  nothing was settled since ${one.stalledSince.toISOString()}: ${printable(one.stalledReason ?? "")}`,
          );
      }
    });
  network
    .command("resume")
    .description(
      "end the halt of a chain, when its reason has been dealt with; its last blocks are read again",
    )
    .argument("<network>", "the network, such as eip155:1")
    .action(async (name: string) => {
      const outcome = await withDatabase(({ database, now }) => {
        const entry = describeAct(
          { by: "operator", tenantId: nilTenantId },
          "network.resume",
          name,
          new Date(now()),
        );
        return resumeNetwork(database, name, entry);
      });
      if (outcome === "unknown")
        throw new OperatorError(`The service has not followed the network ${name} yet.`);
      print(outcome === "resumed" ? `${name} is resumed` : `${name} is not halted`);
    });
}

function stateOf({ haltedReason, unreachableSince, stalledSince }: ListedNetwork): string {
  if (haltedReason !== null) return "halted";
  if (unreachableSince !== null) return "unreachable";
  return stalledSince === null ? "following" : "stalled";
}
