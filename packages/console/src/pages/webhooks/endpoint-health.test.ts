import type { WebhookEndpoint } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { countFailing } from "./endpoint-health";

const healthy = { state: "enabled", verified_at: "t", failing_since: null } as WebhookEndpoint;
const failing = { ...healthy, failing_since: "t" };
const paused = { ...healthy, state: "disabled", disabled_reason: "requested" } as WebhookEndpoint;
const stopped = { ...paused, disabled_reason: "client_disabled" } as WebhookEndpoint;
const disabled = { ...paused, disabled_reason: "failing" } as WebhookEndpoint;

async function* pagesOf(...pages: WebhookEndpoint[][]) {
  for (const [index, data] of pages.entries())
    yield { data, next_cursor: index === pages.length - 1 ? null : "next" };
}

describe("endpoints that need somebody", () => {
  it("are counted on every page", async () => {
    expect(await countFailing(pagesOf([healthy, failing], [paused, disabled, failing, stopped]))).toEqual({
      failing: 4,
      all: 6,
      isCut: false,
    });
  });

  it("are counted up to a bound, which is shown", async () => {
    expect(await countFailing(pagesOf([failing, failing], [failing]), 2)).toEqual({
      failing: 2,
      all: 2,
      isCut: true,
    });
  });
});
