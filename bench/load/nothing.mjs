// The yardstick for routes: Fastify with the same schemas and a handler that does nothing.
import Fastify from "fastify";
import { CreateTransactionBody, Orderbook, Transaction } from "../../packages/protocol/dist/index.js";

const sample = JSON.parse(process.argv[3] ?? "{}");
const orderbook = JSON.parse(process.argv[4] ?? "{}");
const app = Fastify();
app.post(
  "/v1/transactions",
  { schema: { body: CreateTransactionBody, response: { 202: Transaction } } },
  async (_request, reply) => reply.code(202).send(sample),
);
app.get("/v1/transactions/:id", { schema: { response: { 200: Transaction } } }, async () => sample);
app.get("/v1/orderbook", { schema: { response: { 200: Orderbook } } }, async () => orderbook);
app.get("/readyz", async () => ({}));
await app.listen({ port: Number(process.argv[2]), host: "127.0.0.1" });
