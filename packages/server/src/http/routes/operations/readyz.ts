import { Readiness as ReadinessBody } from "@bursar/protocol";
import type { ChainChecks, Readiness } from "../../../runtime/readiness.js";
import { Refusal } from "../../refusal.js";
import { defineRoute } from "../../route.js";

export function readyz(readiness: Readiness) {
  return defineRoute(
    {
      method: "GET",
      path: "/readyz",
      access: "open",
      operationId: "getReadiness",
      tag: "Operations",
      summary: "Check that the service can accept requests",
      description:
        "For load balancers. 503 while the service is starting or stopping, cannot reach its database, or has a clock that differs from the database's by 5 seconds or more. A halted chain or market or a missing signer is shown, and does not make it 503.",
      success: { status: 200, schema: ReadinessBody, description: "The service can accept requests." },
      errors: ["UNAVAILABLE"],
    },
    async () => {
      const state = readiness.state();
      if (state !== "ready") throw unavailable("service", `is ${state}`);
      await readiness.checkDatabase().catch((cause: unknown) => {
        throw unavailable("database", "is down", cause);
      });
      const clockFault = readiness.clockFault();
      if (clockFault !== undefined) throw unavailable("clock", clockFault);
      const [chains, markets = []] = await Promise.all([
        readiness.checkChains?.(),
        readiness.findHaltedMarkets?.(),
      ]).catch((cause: unknown) => {
        throw unavailable("database", "is down", cause);
      });
      const { signer, networks = [] } = chains ?? {};
      const checks = signer === undefined ? {} : { signer, networks: statesOf(networks) };
      const halted = markets.length === 0 ? {} : { halted_markets: [...markets] };
      return { status: "ready" as const, checks: { database: "up" as const, ...checks, ...halted } };
    },
  );
}

function statesOf(networks: ChainChecks["networks"]) {
  return Object.fromEntries(networks.map(({ network, state }) => [network, state]));
}

function unavailable(path: string, reason: string, cause?: unknown): Refusal {
  return new Refusal("UNAVAILABLE", { details: [{ path, reason }], headers: { "retry-after": "1" }, cause });
}
