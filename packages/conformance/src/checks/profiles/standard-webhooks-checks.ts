import { expect, fail, NotOffered, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { showValue } from "../../engine/name-value.js";
import { itemOf } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { endpoint } from "../webhooks/webhook-endpoint.js";
import { allStatesIn, announced } from "../webhooks/webhook-scenarios.js";

const profile = "standard-webhooks";
const source = "Standard Webhooks, https://www.standardwebhooks.com";
const headersCheck = "standard-webhooks.headers";
const writes = ["transaction", "webhook endpoint"] as const;
const toleranceSeconds = 300;

const headerOf = ({ headers }: Delivery, name: string) =>
  headers.find(([own]) => own.toLowerCase() === name)?.[1] ?? "";

async function eachDelivery(kit: Kit, look: (delivery: Delivery) => void): Promise<void> {
  for (const delivery of (await announced(kit)).deliveries) look(delivery);
}

/** What its libraries need. The signature itself is verified by `webhook.signature.valid`, if the target file names the scheme. */
export const standardWebhooksChecks = [
  profileCheck(
    headersCheck,
    profile,
    source,
    "A notification has the headers webhook-id, webhook-timestamp and webhook-signature.",
    { needs: ["webhook.signature.valid"], writes },
    async (kit) => {
      await eachDelivery(kit, (delivery) => {
        for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"])
          expect(headerOf(delivery, name) !== "", `the header ${name}`, "none", [delivery]);
      });
    },
  ),
  profileCheck(
    "standard-webhooks.timestamp",
    profile,
    source,
    "webhook-timestamp is the time in seconds.",
    { needs: [headersCheck], writes },
    async (kit) => {
      await eachDelivery(kit, (delivery) => {
        const text = headerOf(delivery, "webhook-timestamp");
        const differenceSeconds = Math.abs(delivery.receivedAt.getTime() / 1000 - Number(text));
        expect(
          /^\d+$/.test(text) && differenceSeconds <= toleranceSeconds,
          "the time of the attempt in seconds as webhook-timestamp",
          showValue(text),
          [delivery],
        );
      });
    },
  ),
  profileCheck(
    "standard-webhooks.secret",
    profile,
    source,
    "The secret begins with whsec_ and holds 24 to 64 bytes.",
    { needs: [headersCheck], writes },
    async (kit) => {
      const { secret } = await endpoint(kit);
      if (secret === undefined) throw new NotOffered("The target file does not say where the secret is.");
      const bytes = Buffer.from(secret.replace(/^whsec_/, ""), "base64").length;
      const shown = `${secret.startsWith("whsec_") ? "with" : "without"} the prefix, ${bytes} bytes`;
      expect(
        secret.startsWith("whsec_") && bytes >= 24 && bytes <= 64,
        "a secret with the prefix whsec_ and 24 to 64 bytes",
        shown,
      );
    },
  ),
  profileCheck(
    "standard-webhooks.once",
    profile,
    `${source}: a 2xx means that the notification was received`,
    "A notification that was answered with 2xx is not sent again, neither under its id nor under another.",
    { needs: ["webhook.delivery-id.unique"], unlessFailed: ["webhook.result"], writes },
    async (kit) => {
      const answered = new Map<string | undefined, Delivery>();
      const said = new Map<string, Delivery>();
      const { deliveries, created } = await announced(kit);
      for (const one of deliveries) {
        const id = itemOf(one, "delivery_id");
        const earlier = answered.get(id);
        if (earlier !== undefined)
          fail(
            "one notification for each delivery_id that was answered with 2xx",
            `${showValue(id)} again: notification ${earlier.index} was answered with ${earlier.status}, notification ${one.index} repeats it`,
            [earlier, one],
          );
        const content = one.body.toString("utf8").replaceAll(id ?? "\u0000", "");
        const twin = said.get(content);
        if (twin !== undefined)
          fail(
            "one notification for each change",
            `the same notification under two ids: ${showValue(itemOf(twin, "delivery_id"))} (notification ${twin.index}) and ${showValue(id)} (notification ${one.index}); a receiver handles it twice`,
            [twin, one],
          );
        if (one.status >= 200 && one.status < 300 && !one.isAbandoned) {
          answered.set(id, one);
          if (allStatesIn(kit, one, created).length > 0) said.set(content, one);
        }
      }
    },
  ),
];
