import type { LoadGauge } from "../../runtime/load-gauge.js";
import { Refusal } from "../refusal.js";

/** Refuses new work while the service cannot keep up, before anything about the request costs anything. */
export function shedLoad(load: Pick<LoadGauge, "isOverloaded">) {
  return (_request: unknown, _reply: unknown, done: (error?: Error) => void): void => {
    if (load.isOverloaded()) done(new Refusal("OVERLOADED", { headers: { "retry-after": "1" } }));
    else done();
  };
}
