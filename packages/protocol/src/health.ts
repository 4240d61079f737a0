import { Type } from "typebox";

export const Liveness = Type.Object(
  { status: Type.Literal("alive") },
  { $id: "Liveness", description: "The process responds." },
);

export const Readiness = Type.Object(
  {
    status: Type.Literal("ready"),
    checks: Type.Object({ database: Type.Literal("up") }),
  },
  { $id: "Readiness", description: "The service can accept requests." },
);
