import { createTransactions, processesOf, processesOfNothing, readTransactions } from "../load.mjs";
import { compare } from "../measure.mjs";
import { startNothing } from "../nothing.mjs";
import { withSandbox } from "../sandbox.mjs";

/** `GET /v1/transactions/{id}`, one of many at a time, against a route that does nothing. @param {import("../run.mjs").BenchOptions} options */
export async function read({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const { url, token } = sandbox;
    await createTransactions(url, token, 1);
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/v1/transactions?limit=200`, { headers });
    const { data } = /** @type {{ data: { id: string }[] }} */ (await response.json());
    const ids = data.map(({ id }) => id);
    const nothing = await startNothing(sandbox);
    const sides = [
      {
        name: "nothing",
        measure: () => readTransactions(nothing.url, token, ids, seconds),
        processes: processesOfNothing(nothing, sandbox),
      },
      {
        name: "read",
        measure: () => readTransactions(url, token, ids, seconds),
        processes: processesOf(sandbox, [nothing]),
      },
    ];
    try {
      await compare("read", rounds, sides, [{ of: "read", against: "nothing", target: 0.8 }]);
    } finally {
      nothing.stop();
    }
  });
}
