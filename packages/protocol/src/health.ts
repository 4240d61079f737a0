import { Type } from "typebox";
import { OneOf, Strings } from "./values.js";

export const Liveness = Type.Object(
  { status: Type.Literal("alive") },
  { $id: "Liveness", description: "The process responds." },
);

export const Readiness = Type.Object(
  {
    status: Type.Literal("ready"),
    checks: Type.Object({
      database: Type.Literal("up"),
      signer: Type.Optional(
        OneOf(["up", "down"], {
          description:
            "While it is down, no wallet of a chain is activated and nothing is signed. Left out without chains.",
        }),
      ),
      networks: Type.Optional(
        Strings({
          additionalProperties: OneOf([
            "connecting",
            "waiting",
            "unreachable",
            "stalled",
            "following",
            "halted",
          ]),
          description: "The state of each chain, see `GET /v1/networks`. Left out without chains.",
        }),
      ),
      halted_markets: Type.Optional(
        Type.Array(Type.String(), {
          description:
            "The markets that match no orders until an operator resumes them. Left out if there are none.",
        }),
      ),
    }),
  },
  { $id: "Readiness", description: "The service can accept requests." },
);
