// The yardstick for routes: Fastify with the same schemas and handlers that only answer.
import Fastify from "fastify";
import { CreateTransactionBody, Orderbook, Transaction } from "./schemas.mjs";

const [, , port, sampleText = "{}", orderbookText = "{}"] = process.argv;
const sample = JSON.parse(sampleText);
const orderbook = JSON.parse(orderbookText);
const app = Fastify();
app.post(
  "/v1/transactions",
  { schema: { body: CreateTransactionBody, response: { 202: Transaction } } },
  async (_request, reply) => reply.code(202).send(sample),
);
app.get("/v1/transactions/:id", { schema: { response: { 200: Transaction } } }, async () => sample);
app.get("/v1/orderbook", { schema: { response: { 200: Orderbook } } }, async () => orderbook);
app.get("/readyz", async () => ({}));
await app.listen({ port: Number(port), host: "127.0.0.1" });
