import type { Bursar } from "@bursar/client";
import { type Finding, finding } from "./finding.js";

/** Endpoints that receive nothing: those that fail or were disabled for it, and those that were never verified. */
export function checkEndpoints(bursar: Bursar): Promise<Finding> {
  return finding(
    "webhook endpoints",
    async () => {
      const { token } = await bursar.me.get();
      if (!token.scopes.includes("webhooks:manage"))
        return { state: "skipped", found: "the token lacks webhooks:manage" };
      const { data } = await bursar.webhookEndpoints.list({ limit: 200 }).page();
      const faulty = data.flatMap((endpoint) => {
        const fault = faultOf(endpoint);
        return fault === undefined ? [] : [{ ...endpoint, fault }];
      });
      const [first] = faulty;
      if (first === undefined) return { state: "ok", found: `${data.length}, none failing` };
      return {
        state: "warning",
        found: faulty.map(({ id, url, fault }) => `${id} (${url}) ${fault}`).join(", "),
        advice:
          first.state === "pending"
            ? `Start the receiver, with the secret of the endpoint, and run \`bursar webhooks verify ${first.id}\`.`
            : `\`bursar webhooks test ${first.id}\` shows what the receiver answers. When it accepts, run \`bursar webhooks enable ${first.id}\` and \`bursar webhooks resend --failed\`.`,
      };
    },
    "Check the scope webhooks:manage.",
  );
}

type Endpoint = Awaited<ReturnType<ReturnType<Bursar["webhookEndpoints"]["list"]>["page"]>>["data"][number];

function faultOf({ state, failing_since, disabled_reason }: Endpoint): string | undefined {
  if (state === "pending") return "is pending: it receives nothing until it is verified";
  if (disabled_reason !== null && disabled_reason !== "requested") return `is disabled: ${disabled_reason}`;
  return failing_since === null ? undefined : `is failing since ${failing_since}`;
}
