import { Overview, OverviewQuery } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { defineRoute } from "../../route.js";
import { readRange } from "./read-range.js";

export function showOverview({ showOverview: show }: Pick<UseCases, "showOverview">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/overview",
      access: "transactions:read",
      operationId: "showOverview",
      tag: "Overview",
      summary: "Count and sum up transactions",
      description: "Counts and sums of transactions by state, asset and time. `lag` says how current it is.",
      query: OverviewQuery,
      success: { status: 200, schema: Overview, description: "Counts and sums." },
      errors: [],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      const { period = "day", asset } = request.query;
      const { open, periods, lag } = await show({ tenantId, period, asset, ...readRange(request.query) });
      return {
        period,
        open: open as Overview["open"],
        periods: periods.map((sum) => ({ ...sum, start: sum.start.toISOString() })) as Overview["periods"],
        lag,
      };
    },
  );
}
