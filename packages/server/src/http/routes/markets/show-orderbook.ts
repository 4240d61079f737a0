import { Orderbook, OrderbookQuery } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { unwrap } from "../../access/guard.js";
import { namesTag } from "../../entity-tags.js";
import { defineRoute } from "../../route.js";

const depthDefault = 50;

export function showOrderbook({ showOrderbook: show }: Pick<UseCases, "showOrderbook">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/orderbook",
      access: "orderbook:read",
      operationId: "showOrderbook",
      tag: "Markets",
      summary: "Read an order book",
      description:
        "Defaults to the first market and 50 levels per side. With `If-None-Match` the response is 304 if nothing has changed.",
      query: OrderbookQuery,
      ifNoneMatch: true,
      takesNoTurns: true,
      success: { status: 200, schema: Orderbook, description: "The snapshot.", headers: ["ETag"] },
      errors: ["MARKET_NOT_FOUND"],
    },
    (request, reply): undefined | Promise<undefined> => {
      const { market, depth = depthDefault } = request.query;
      const answer = (snapshot: Awaited<ReturnType<typeof show>>): undefined => {
        const { json, tag } = unwrap(snapshot);
        reply.header("etag", tag);
        // Nothing is returned: Fastify would wait for a returned reply, though it has been sent.
        if (namesTag(request.headers["if-none-match"], tag)) reply.code(304).send();
        else reply.type("application/json; charset=utf-8").send(json);
      };
      const snapshot = show(market, depth);
      return snapshot instanceof Promise ? snapshot.then(answer) : answer(snapshot);
    },
  );
}
