// The schemas of the service for other Fastify services: without the names that they have in the OpenAPI document, of which Ajv
// accepts each only once.
import * as protocol from "../../packages/protocol/dist/index.js";

/** @template T @param {T} schema @returns {T} */
function withoutNames(schema) {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === "$id" ? undefined : value)));
}

export const CreateTransactionBody = withoutNames(protocol.CreateTransactionBody);
export const Orderbook = withoutNames(protocol.Orderbook);
export const Transaction = withoutNames(protocol.Transaction);
